"""What is opened to commands, on whatever kernel: folders for reading and for writing, at each level, and a folder beside them that is closed.
Speaks through the server of outside.py. Must not know which kernel it is.
"""

WORD = "the letter of "


def furnish(home):
    """The folders, and the options of the server that open two of them."""
    for name in ("opened-read", "opened-write", "closed"):
        (home / name).mkdir()
        (home / name / "letter").write_text(WORD + name + "\n")
    return ["--open-read", str(home / "opened-read"), "--open-write", str(home / "opened-write")]


def faults(server, home, keeps_files, levels_held):
    """What is wrong: an opened folder that is shut, a shut one that is open, or a change at a level that has none."""
    wrong = []
    for level in ("read", "write", "network"):
        server.needs = level
        said = server.run(f"cat {home}/opened-read/letter {home}/opened-write/letter 2>&1; true")
        wrong += [f"{name} cannot be read at level {level}: {said}" for name in ("opened-read", "opened-write") if WORD + name not in said]
        if not keeps_files:
            continue
        if WORD in server.run(f"cat {home}/closed/letter 2>&1; true"):
            wrong.append(f"a folder that is closed can be read at level {level}")
        for name in ("opened-read", "opened-write"):
            may = name == "opened-write" and level != "read"
            # Without a level that is held, a command at `read` is asked about, and may change it.
            if name == "opened-write" and level == "read" and not levels_held:
                continue
            for verb, command in (("make", f"echo x > {home}/{name}/new"), ("cut", f"truncate -s 0 {home}/{name}/letter"),
                                  ("remove", f"rm {home}/{name}/letter"), ("rename", f"mv {home}/{name}/letter {home}/{name}/other")):
                server.run(f"{command} 2>&1; true")
                new, letter = home / name / "new", home / name / "letter"
                changed = new.exists() or not letter.exists() or letter.read_text() != WORD + name + "\n"
                if changed != may:
                    wrong.append(f"level {level} {'cannot' if may else 'can'} {verb} what lies in {name}")
                new.unlink(missing_ok=True)
                (home / name / "other").unlink(missing_ok=True)
                letter.write_text(WORD + name + "\n")
    return wrong
