#!/usr/bin/env python3
"""Looks into lines of JSON, for the steps of .ci/run.

has FILE KEY=VALUE...        exit code 0 if a row fits
get KEY FILE KEY=VALUE...    the value of the first row that fits
list KEY FILE KEY=VALUE...   the values of all rows that fit, on one line
A key may be a path, such as body.outcome.
"""
import json
import sys


def at(row, path):
    for part in path.split("."):
        row = row.get(part) if isinstance(row, dict) else None
    return row


def text(value):
    return value if isinstance(value, str) else json.dumps(value)


def rows(file, conditions):
    wanted = [condition.split("=", 1) for condition in conditions]
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if all(text(at(row, key)) == value for key, value in wanted):
                yield row


def main(verb, *rest):
    if verb == "has":
        return 0 if any(True for _ in rows(rest[0], rest[1:])) else 1
    key, file, *conditions = rest
    found = [text(at(row, key)) for row in rows(file, conditions)]
    if verb == "list":
        print(" ".join(found))
        return 0
    if not found:
        print(f"no row in {file} fits {conditions}", file=sys.stderr)
        return 1
    print(found[0])
    return 0


sys.exit(main(*sys.argv[1:]))
