//! Settings of ssh as people have them, and as somebody would write them who wants to get out.

use super::*;

struct Home(tempfile::TempDir);

impl Home {
    fn with(config: &str) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir(home.0.path().join(".ssh")).unwrap();
        home.write(".ssh/config", config);
        home
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(&path, mode).unwrap();
    }

    fn of(&self, host: &str) -> Result<HostSettings, String> {
        Places::of(self.0.path()).settings(host)
    }

    fn taken(&self, host: &str) -> HostSettings {
        self.of(host).unwrap()
    }
}

#[test]
fn a_host_of_a_developer_is_found_by_its_name() {
    let home = Home::with(
        "# mine\nUser = nobody-else\n\nHost work w?rk2 !work9\n  HostName git.example.com\n  User git # as all\n  Port 2222\n  \
         IdentityFile ~/.ssh/work\n  IdentitiesOnly yes\n  HostKeyAlias work-key\n  UserKnownHostsFile ~/.ssh/known \"~/.ssh/more\"\n\
         Host *.lan\n\tHostName=%h.example.net\nHost *\n  HostName never\n  Port 9\n  ServerAliveInterval 60\n",
    );
    home.write(".ssh/work.pub", "ssh-ed25519 AAAA");
    let found = home.taken("work");
    // The first word counts, wherever it stands.
    assert_eq!(found.user.as_deref(), Some("nobody-else"));
    assert_eq!(found.host_name.as_deref(), Some("git.example.com"));
    assert_eq!((found.port, found.only_these_keys), (Some(2222), true));
    assert_eq!(found.keys, [home.0.path().join(".ssh/work.pub")]);
    assert_eq!(found.host_key_alias.as_deref(), Some("work-key"));
    let known = ["known", "more"].map(|name| home.0.path().join(".ssh").join(name));
    assert_eq!(found.known_hosts, known);
    assert_eq!(found.left_out, Vec::<String>::new());
    assert_eq!(home.taken("wark2").port, Some(2222));
    assert_eq!(home.taken("nas.lan").host_name.as_deref(), Some("nas.lan.example.net"));
    assert_eq!(home.taken("work9").host_name.as_deref(), Some("never"));
    let none = Places::of(Path::new("/nowhere")).settings("work").unwrap();
    assert_eq!(none, HostSettings::default());
}

#[test]
fn a_host_that_is_reached_by_a_program_or_over_another_is_refused_by_name() {
    for line in
        ["ProxyCommand nc %h %p", "proxycommand=\"touch x\"", "ProxyJump a", "PROXYJUMP  a,b"]
    {
        let home =
            Home::with(&format!("Host work\n {line}\nHost other\n HostName o.example.com\n"));
        let why = home.of("work").unwrap_err();
        assert!(why.contains("host `work` uses Proxy") && why.contains("does not run"), "{why}");
        assert_eq!(home.taken("other").host_name.as_deref(), Some("o.example.com"));
    }
    let home = Home::with(
        "Host work\n ProxyCommand none\n ProxyJump none\nHost *\n ProxyCommand x\n ProxyJump y\n",
    );
    assert_eq!(home.taken("work").left_out, Vec::<String>::new());
}

#[test]
fn what_starts_something_or_opens_a_way_is_left_out_and_named() {
    let home = Home::with(
        "Match exec \"touch /tmp/x\"\n HostName evil.example\nMatch all\n RemoteForward 1 h:2\n LocalCommand touch x\n \
         KnownHostsCommand touch x\n PKCS11Provider /tmp/x.so\n IdentityAgent ~/other\n ForwardAgent yes\n SecurityKeyProvider /x\n",
    );
    let found = home.taken("work");
    assert_eq!(found.host_name, None);
    for named in [
        "Match",
        "RemoteForward",
        "LocalCommand",
        "KnownHostsCommand",
        "PKCS11Provider",
        "IdentityAgent",
    ] {
        assert!(found.left_out.iter().any(|left| left == named), "{named}: {:?}", found.left_out);
    }
    assert!(!found.left_out.iter().any(|left| left.contains("orwardagent")), "claw says no itself");
}

#[test]
fn an_include_stays_in_the_folder_and_ends() {
    let home = Home::with("Include conf.d/* ../outside /etc/ssh/ssh_config\nHost work\n Port 1\n");
    home.write(".ssh/conf.d/b", "Host work\n HostName b.example\n");
    home.write(".ssh/conf.d/a", "Host work\n HostName a.example\n");
    home.write(".ssh/conf.d/.hidden", "ProxyCommand x\n");
    home.write("outside", "ProxyCommand x\n");
    let found = home.taken("work");
    assert_eq!((found.host_name.as_deref(), found.port), (Some("a.example"), Some(1)));
    assert_eq!(found.left_out, ["Include ../outside", "Include /etc/ssh/ssh_config"]);
    // Of a block that is about another host, nothing is read.
    let home = Home::with("Host other\n Include more\nHost work\n Port 1\n");
    home.write(".ssh/more", "Host *\n ProxyCommand x\n");
    assert_eq!(home.taken("work").port, Some(1));
    let circle = Home::with("Include config\n");
    assert!(circle.of("work").unwrap_err().contains("too much"));
    let linked = Home::with("Include link\n");
    let far = tempfile::tempdir().unwrap();
    fs::write(far.path().join("f"), "Host *\n HostName evil.example\n").unwrap();
    std::os::unix::fs::symlink(far.path().join("f"), linked.0.path().join(".ssh/link")).unwrap();
    assert_eq!(linked.taken("work").host_name, None);
}

#[test]
fn no_value_becomes_an_option_a_token_or_a_private_key() {
    for line in [
        "HostName -oProxyCommand=x",
        "HostName a b",
        "HostName \"a;b\"",
        "HostName %k",
        "HostName $(x)",
        "User -oX",
        "User \"a b\"",
        "Port 0",
        "Port 22x",
        "HostKeyAlias \"a b\"",
        "HostName \"unfinished",
    ] {
        let found = Home::with(&format!("Host work\n {line}\n")).of("work");
        let taken = found.as_ref().is_ok_and(|found| found.host_name.as_deref() == Some("a"));
        assert!(found.is_err() || taken, "{line}: {found:?}");
    }
    let home = Home::with(
        "IdentityFile ~/.ssh/id\nIdentityFile %d/.ssh/%h\nIdentityFile id.pub\nUserKnownHostsFile $HOME/x\n",
    );
    home.write(".ssh/id", "PRIVATE");
    let found = home.taken("work");
    assert!(found.keys.is_empty() && found.known_hosts.is_empty(), "{found:?}");
    assert!(found.left_out[0].contains("no .pub file"), "{found:?}");
    // A file that others write is not the owner's word.
    let path = home.0.path().join(".ssh/config");
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    assert!(home.of("work").unwrap_err().contains("owner alone"));
}

#[test]
fn patterns_fit_as_ssh_has_them() {
    for (pattern, name, does) in [
        ("*", "", true),
        ("a*c", "abbc", true),
        ("a*c", "abcd", false),
        ("?", "", false),
        ("**a", "bba", true),
        ("work", "Work", false),
        ("*.b.*", "a.b.c", true),
    ] {
        assert_eq!(fits(pattern, name), does, "{pattern} {name}");
    }
    let long = format!("{}b", "a*".repeat(200));
    assert!(!fits(&long, &"a".repeat(20_000)));
}
