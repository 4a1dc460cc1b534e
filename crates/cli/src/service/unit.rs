//! What a service manager reads: a user unit of systemd, an agent of launchd, and the file with the
//! settings that only an environment has. Pure: paths and values in, text out. Must not know where
//! the files go, or who reads them.

use std::path::Path;

/// What the texts are made of.
pub struct Service<'a> {
    /// This program.
    pub program: &'a Path,
    pub home: &'a Path,
    /// The settings of the environment, `NAME="value"` a line.
    pub environment: &'a Path,
    /// Where the log goes without a journal.
    pub log: &'a Path,
}

impl Service<'_> {
    /// A unit of `systemd --user` (systemd.service(5), systemd.exec(5)). What a unit could forbid
    /// beyond this, the tool servers that a user plugs in may need; claw's own shell has its box.
    /// `Delegate=` gives claw the cgroup of the unit, for one of each command in it. A command that
    /// is ended there for its memory does not end the service (systemd.service(5), `OOMPolicy=`).
    pub fn systemd(&self) -> String {
        let (program, parked) = (word(self.program), word(&self.home.join(super::PARKED)));
        let (home, environment) = (bare(self.home), bare(self.environment));
        format!(
            "# Written by `claw service install`; changes are lost when that is run again.\n\
             [Unit]\n\
             Description=claw, a personal agent that asks before it acts\n\
             After=network-online.target\n\
             StartLimitIntervalSec=300\n\
             StartLimitBurst=10\n\
             \n\
             [Service]\n\
             Type=notify\n\
             ExecCondition=/bin/sh -c 'test ! -e \"$0\"' {parked}\n\
             ExecStart={program} gateway\n\
             Environment={home_variable}\n\
             EnvironmentFile=-{environment}\n\
             WorkingDirectory={home}\n\
             Restart=on-failure\n\
             RestartSec=5\n\
             WatchdogSec=60\n\
             TimeoutStartSec=infinity\n\
             TimeoutStopSec=30\n\
             KillMode=mixed\n\
             Delegate=memory pids\n\
             OOMPolicy=continue\n\
             UMask=0077\n\
             NoNewPrivileges=yes\n\
             RestrictSUIDSGID=yes\n\
             RestrictRealtime=yes\n\
             LockPersonality=yes\n\
             \n\
             [Install]\n\
             WantedBy=default.target\n",
            home_variable = assignment(&format!("CLAW_HOME={}", self.home.display())),
        )
    }

    /// An agent of launchd (launchd.plist(5)). launchd reads no file of variables, so a shell does.
    pub fn launchd(&self) -> String {
        let script = ". \"$1\" 2>/dev/null; export CLAW_HOME=\"$2\"; exec \"$3\" gateway";
        let words = [
            "/bin/sh".to_owned(),
            "-ac".to_owned(),
            script.to_owned(),
            "claw".to_owned(),
            self.environment.display().to_string(),
            self.home.display().to_string(),
            self.program.display().to_string(),
        ];
        let words: String =
            words.iter().map(|word| format!("    <string>{}</string>\n", xml(word))).collect();
        let log = xml(&self.log.display().to_string());
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD \
             PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist \
             version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{label}</string>\n  \
             <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n  <key>RunAtLoad</key>\n  \
             <true/>\n  <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    \
             <false/>\n  </dict>\n  <key>ThrottleInterval</key>\n  <integer>5</integer>\n  \
             <key>ExitTimeOut</key>\n  <integer>30</integer>\n  <key>Umask</key>\n  \
             <integer>63</integer>\n  <key>StandardErrorPath</key>\n  <string>{log}</string>\n\
             </dict>\n</plist>\n",
            label = super::LABEL,
        )
    }
}

/// One line of the file with the settings. Read alike by systemd (`EnvironmentFile=`) and by a
/// shell. `None` for a value that a line cannot hold.
pub fn setting(name: &str, value: &str) -> Option<String> {
    if value.contains(|c: char| c.is_control()) {
        return None;
    }
    let mut escaped = String::new();
    for c in value.chars() {
        if matches!(c, '"' | '\\' | '`' | '$') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    Some(format!("{name}=\"{escaped}\"\n"))
}

/// The name that a line of that file sets.
pub fn set_by(line: &str) -> Option<&str> {
    let (name, _) = line.split_once('=')?;
    let name = name.trim();
    (!name.is_empty() && !name.starts_with('#')).then_some(name)
}

/// A path as one word of a command line: systemd.syntax(7), "Quoting", and systemd.service(5),
/// "Command lines", where `$` begins a variable.
fn word(path: &Path) -> String {
    assignment(&path.display().to_string()).replace('$', "$$")
}

/// Text as one word where variables are not filled in. `%` would begin a specifier.
fn assignment(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

/// A path where it is a whole value, which is not unquoted.
fn bare(path: &Path) -> String {
    path.display().to_string().replace('%', "%%")
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packaged_unit_is_the_one_that_claw_writes() {
        let packaged = include_str!("../../../../packaging/deb/claw.service");
        let service = Service {
            program: Path::new("/usr/bin/claw"),
            home: Path::new("/HOME/.claw"),
            environment: Path::new("/HOME/.claw/service.env"),
            log: Path::new("/HOME/.claw/logs"),
        };
        let lines = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
        };
        // `%h` is the home of whoever runs it (systemd.unit(5), "Specifiers").
        let written = service.systemd().replace("/HOME", "%h");
        assert_eq!(lines(packaged), lines(&written));
    }

    #[test]
    fn values_keep_their_signs() {
        assert_eq!(setting("A_KEY", "sk-1").unwrap(), "A_KEY=\"sk-1\"\n");
        assert_eq!(setting("A", "a\"b\\c$d`e f").unwrap(), "A=\"a\\\"b\\\\c\\$d\\`e f\"\n");
        assert_eq!(setting("A", "two\nlines"), None);
        assert_eq!(
            (set_by("A=\"x\""), set_by("# A=1"), set_by("nothing")),
            (Some("A"), None, None)
        );
    }

    #[test]
    fn odd_paths_stay_one_word() {
        let service = Service {
            program: Path::new("/opt/my tools/claw"),
            home: Path::new("/home/me/100%/.claw"),
            environment: Path::new("/home/me/100%/.claw/service.env"),
            log: Path::new("/home/me/a&b"),
        };
        let unit = service.systemd();
        assert!(unit.contains("ExecStart=\"/opt/my tools/claw\" gateway\n"), "{unit}");
        assert!(unit.contains("Environment=\"CLAW_HOME=/home/me/100%%/.claw\"\n"), "{unit}");
        assert!(unit.contains("WorkingDirectory=/home/me/100%%/.claw\n"), "{unit}");
        assert!(unit.contains("\nDelegate=memory pids\nOOMPolicy=continue\n"), "{unit}");
        assert!(service.launchd().contains("<string>/home/me/a&amp;b</string>"));
    }
}
