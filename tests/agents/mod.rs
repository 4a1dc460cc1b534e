//! Several agents in one process, each with a bot of its own: what goes wrong with one stays with
//! it, and nothing of one gets to another. Two of them meet a bug.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod agent;

use crate::botapi::Fault;
use crate::program;
use crate::program::House;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use agent::{Agent, start, stop};

#[test]
fn of_six_bots_in_one_process_three_have_trouble_and_three_answer() {
    let names = ["calm", "bad", "buggy", "slow", "left", "right"];
    let agents: Vec<Agent> =
        names.iter().zip(1..).map(|(name, number)| Agent::new(number, name)).collect();
    let [calm, _, buggy, slow, left, right] = &agents[..] else { unreachable!() };
    let house = House::new()
        .with("CLAW_BUG_IN_HANDLER", "meet a bug")
        .with("CLAW_BUG_IN_PART", "end a part");
    let toml: String = agents
        .iter()
        .map(|agent| {
            if agent.name == "bad" {
                agent.section("4711:revoked-by-its-owner", "")
            } else {
                agent.usual()
            }
        })
        .collect();
    house.write("claw.toml", &toml);
    slow.telegram.fault(Fault::TooMany(3600)).on("sendMessage").always();
    let gateway = start(&house);

    // The one with the wrong token is told by another one of the same person, and named by whoever
    // asks.
    let told = |agent: &Agent| {
        let sent = agent.telegram.sent(agent.anna.id);
        sent.iter()
            .any(|message| message.by_bot && message.text.contains("The agent bad is not at work"))
    };
    program::eventually("one of the others tells it", || {
        [calm, buggy, left, right].iter().any(|agent| told(agent))
    });
    program::eventually("its line is written", || {
        gateway.err().contains("the agent bad is not at work")
    });

    slow.says("write slow.txt: slow");
    buggy.says("please meet a bug here");
    buggy.hears("was passed over");
    right.says("please end a part here");
    right.hears("A part of claw has ended by itself");
    for agent in [calm, left, right, buggy] {
        agent.writes(&house, "note.txt", &format!("of {}", agent.name));
    }
    for agent in [calm, left, right, buggy] {
        assert_eq!(agent.file(&house, "note.txt"), format!("of {}", agent.name));
    }
    slow.telegram.wait_all_confirmed();
    assert!(
        slow.telegram.sent(slow.anna.id).iter().all(|message| !message.by_bot),
        "Telegram lets nothing through"
    );

    calm.says("/agents");
    let listed = calm.hears("(this one)").text;
    assert!(
        listed.contains("calm (this one)") && listed.contains("@claw_test_bot_5 is at work"),
        "{listed}"
    );
    assert!(listed.contains("bad: the agent bad · its bot is not at work"), "{listed}");
    let doctor = house.claw(&["doctor"]);
    assert!(doctor.code != Some(0) && doctor.out.contains("bad"), "{doctor:?}");
    stop(gateway);

    for agent in [calm, left, right, buggy, slow] {
        holds_its_own_words_alone(&house, agent, &agents);
    }
    assert!(!house.home().join("workspace/note.txt").exists());
}

/// The store of an agent holds what was said to its own bot, and nothing else.
fn holds_its_own_words_alone(house: &House, agent: &Agent, agents: &[Agent]) {
    let claw = |args: &[&str]| house.claw(&[&["--agent", agent.name], args].concat()).expect(0);
    let sessions = claw(&["sessions", "--json"]).rows();
    let ids: Vec<&str> = sessions.iter().map(|session| session["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [agent.session()]);
    claw(&["audit", "verify"]);
    claw(&["sessions", "replay"]);
    let said = agent.said(house).join("\n");
    for other in agents.iter().filter(|other| other.name != agent.name) {
        let heard = said.contains(&format!("of {}", other.name));
        assert!(!heard, "{} has heard {said}", agent.name);
    }
}

#[test]
fn what_one_agent_may_and_has_is_nothing_for_another() {
    let agents = [Agent::new(1, "left"), Agent::new(2, "right")];
    let [left, right] = &agents;
    let house = House::new();
    house.write("claw.toml", &agents.iter().map(Agent::usual).collect::<String>());
    let gateway = start(&house);
    left.says("write a.txt: 1");
    left.telegram.wait_for_button(left.anna.id, "This session");
    let tap = left.anna.taps(left.anna.private(), "This session");
    left.telegram.wait_answered(&tap);
    left.hears("ran");
    left.says("write a.txt: 1");
    left.telegram.wait_for("it runs without a question", |world| {
        let bots = world
            .messages(left.anna.private())
            .filter(|one| one.by_bot && one.text.contains("a.txt"));
        (bots.count() >= 3).then_some(())
    });
    // The same person, the same words: the grant was given to the other agent.
    right.says("write a.txt: 1");
    right.telegram.wait_for_button(right.anna.id, "Allow once");
    assert_eq!(right.file(&house, "a.txt"), "");
    let secret = left.home(&house).join("workspace/a.txt");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "1");
    // The files of one are out of reach for the tools of the other.
    right.says("/stop");
    right.says(&format!("show {}", secret.display()));
    let refused = right.hears("workspace");
    assert!(!refused.text.contains("```\n1"), "{}", refused.text);
    stop(gateway);
    for (agent, grants) in [(left, 1), (right, 0)] {
        let rows = house.claw(&["--agent", agent.name, "grants", "--json"]).expect(0).rows();
        assert_eq!(rows.len(), grants, "{}: {rows:?}", agent.name);
    }
}

#[test]
fn each_agent_asks_its_own_model_with_its_own_key_and_has_its_own_servers_and_budget() {
    let agents = [Agent::new(1, "left"), Agent::new(2, "right")];
    let [left, right] = &agents;
    let call = Answer::Turn(Turn::calls(&[Call::new(
        "c1",
        "bash__run",
        "{\"command\":\"true\",\"needs\":\"write\"}",
    )]));
    let models = [
        Threaded::start(Wire::OpenAi, [Answer::text("I am left's."), Answer::text("left again")]),
        Threaded::start(Wire::OpenAi, [call, Answer::text("I am right's.")]),
    ];
    let house = House::bare();
    let section = |agent: &Agent, model: &Threaded, more: &str| {
        let (name, url) = (agent.name, &model.base_url);
        let model = format!(
            "{more}\n[agents.{name}.model]\nagent = \"openai-compatible\"\nmodel = \"model-of-{name}\"\nbase_url = \"{url}\"\napi_key = \"sk-key-of-{name}-4711\"\n"
        );
        agent.section(&agent.telegram.token(), &model)
    };
    let left_toml = section(left, &models[0], "[agents.left.limits]\ntokens_day_max = 1000");
    let right_toml = section(right, &models[1], "")
        .replace("[agents.right]\n", "[agents.right]\nservers = [\"filesystem\"]\n");
    house.write("claw.toml", &format!("{left_toml}{right_toml}"));
    let gateway = start(&house);
    left.says("hello");
    left.hears("I am left's.");
    right.says("hello");
    right.hears("I am right's.");
    stop(gateway);
    for (agent, model, other) in [(left, &models[0], "right"), (right, &models[1], "left")] {
        for one in model.recorded() {
            assert_eq!(
                one.headers["authorization"],
                format!("Bearer sk-key-of-{}-4711", agent.name)
            );
            assert_eq!(one.body["model"], format!("model-of-{}", agent.name));
            assert!(!one.body.to_string().contains(&format!("sk-key-of-{other}")));
            let system = one.body["messages"][0]["content"].to_string();
            assert!(
                system.contains(&format!("You are the agent `{0}`: the agent {0}", agent.name)),
                "{system}"
            );
            let tools = one.body["tools"].to_string();
            assert_eq!(tools.contains("bash__run"), agent.name == "left", "{tools}");
            assert!(tools.contains("filesystem__read_file"), "{tools}");
        }
    }
    // A tool that the agent does not have is none for its model.
    let second = &models[1].recorded()[1];
    assert!(
        second.body["messages"].to_string().contains("bash__run"),
        "{}",
        second.body["messages"]
    );
    let spent = |agent: &str| {
        let usage = house.claw(&["--agent", agent, "sessions", "--json"]).expect(0).out;
        assert!(!usage.is_empty());
        let path = house.home().join("agents").join(agent).join("claw.db");
        let db = rusqlite::Connection::open(path).unwrap();
        db.query_row("SELECT count(*) FROM usage", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!((spent("left"), spent("right")), (1, 2));
    assert!(
        !house.home().join("claw.db").exists() || {
            let db = rusqlite::Connection::open(house.home().join("claw.db")).unwrap();
            db.query_row("SELECT count(*) FROM usage", [], |row| row.get::<_, i64>(0)).unwrap() == 0
        }
    );
}

#[test]
fn two_agents_cannot_be_one_bot_and_a_missing_token_is_told() {
    let agent = Agent::new(1, "first");
    let house = House::new();
    let twin = agent.usual().replace("first", "twin");
    let unset =
        "[agents.unset]\ntoken_from = [\"NO_SUCH_BOT\", \"NOR_THIS\"]\nallowed_chats = [1]\n";
    house.write(
        "claw.toml",
        &format!("{}{twin}{unset}[agents.odd]\nallowed_chatz = [1]\n", agent.usual()),
    );
    let gateway = start(&house);
    agent.says("/agents");
    let listed = agent.hears("(this one)").text;
    assert!(listed.contains("first (this one)") && listed.contains("is at work"), "{listed}");
    assert!(listed.contains("its token is that of the agent first"), "{listed}");
    assert!(listed.contains("none of NO_SUCH_BOT, NOR_THIS is set"), "{listed}");
    assert!(listed.contains("allowed_chatz"), "{listed}");
    stop(gateway);
    // Alone, each of them is a mistake of the person who starts it.
    house.claw(&["--agent", "unset", "gateway"]).expect_mistake(&["NO_SUCH_BOT"]);
    house.claw(&["--agent", "odd", "gateway"]).expect_mistake(&["allowed_chatz", "line"]);
    house.claw(&["--agent", "nobody", "ask", "x"]).expect_mistake(&["no agent `nobody`", "first"]);
}

#[test]
fn an_agent_without_a_bot_is_one_for_the_console() {
    let house = House::new();
    house.write("claw.toml", "[agents.quiet]\ndescription = \"no bot\"\n");
    house.write(
        "policy.toml",
        "[[rule]]\nserver = \"filesystem\"\ntool = \"delete\"\ndecision = \"deny\"\nwhy = \"nothing is deleted\"\n",
    );
    house.write(
        "agents/quiet/policy.toml",
        "[[rule]]\nserver = \"filesystem\"\ntool = \"write_file\"\ndecision = \"allow\"\nwhy = \"quiet may write\"\n",
    );
    house.claw(&["--agent", "quiet", "ask", "write q.txt: quiet"]).expect(0);
    assert_eq!(
        std::fs::read_to_string(house.home().join("agents/quiet/workspace/q.txt")).unwrap(),
        "quiet"
    );
    house.ask_parks("write q.txt: main");
    assert_eq!(house.claw(&["--agent", "quiet", "approvals", "--json"]).expect(0).rows().len(), 0);
    // An id says whose question it is.
    house.claw(&["--agent", "quiet", "ask", "run `touch made`"]).expect(3);
    let listed = house.claw(&["approvals"]).expect(0);
    assert!(
        listed.err.contains("The agent quiet has 1 more: `claw --agent quiet approvals`"),
        "{listed:?}"
    );
    let waiting = house.claw(&["--agent", "quiet", "approvals", "--json"]).expect(0).rows();
    house.claw(&["approve", waiting[0]["id"].as_str().unwrap()]).expect(0);
    assert_eq!(house.claw(&["--agent", "quiet", "approvals", "--json"]).expect(0).rows().len(), 0);
    house.write("agents/quiet/policy.toml", "[[rule]]\ndecisio = 1\n");
    house
        .claw(&["--agent", "quiet", "ask", "hi"])
        .expect_mistake(&["agents/quiet/policy.toml", "decisio"]);
    house.claw(&["ask", "--session", "other", "help"]).expect(0);
}

#[test]
fn the_stop_switch_stops_every_agent() {
    let agents = [Agent::new(1, "left"), Agent::new(2, "right")];
    let [left, right] = &agents;
    let house = House::new();
    house.write("claw.toml", &agents.iter().map(Agent::usual).collect::<String>());
    let gateway = start(&house);
    left.writes(&house, "a.txt", "1");
    right.says("write b.txt: 1");
    let asked = right.telegram.wait_for_button(right.anna.id, "Allow once");
    left.says("/panic");
    left.hears("This holds for all 3 agents");
    let tap = right.anna.taps(right.anna.private(), "Allow once");
    right.telegram.wait_answered(&tap);
    right.telegram.wait_for("the call is denied", |world| {
        let message = world.message(right.anna.private(), asked.id)?;
        message.labels().is_empty().then_some(())
    });
    right.says("list .");
    right.hears("stop switch is on");
    assert_eq!(right.file(&house, "b.txt"), "");
    // Who releases one agent has not looked at the others.
    right.says("/panic off");
    right.hears("The other agents stay as they are");
    left.says("list .");
    left.hears("stop switch is on");
    house.claw(&["panic", "off"]).expect(0);
    left.writes(&house, "a.txt", "2");
    right.writes(&house, "b.txt", "2");
    stop(gateway);
}

#[test]
fn every_agent_ends_in_order() {
    let agents: Vec<Agent> = ["a", "b", "c", "d"]
        .iter()
        .zip(1..)
        .map(|(name, number)| Agent::new(number, name))
        .collect();
    let house = House::new();
    house.write("claw.toml", &agents.iter().map(Agent::usual).collect::<String>());
    for round in 0..4 {
        let gateway = start(&house);
        for agent in &agents {
            agent.says(&format!("round {round}"));
            program::eventually("its answer comes", || {
                let sent = agent.telegram.sent(agent.anna.id);
                sent.iter().filter(|one| one.by_bot && one.text.contains("help")).count() > round
            });
            agent.telegram.wait_all_confirmed();
        }
        let said = gateway.err();
        assert!(!said.contains("did not end in order"), "{said}");
        stop(gateway);
    }
}

#[test]
fn a_backup_holds_every_agent() {
    let house = House::new();
    house.write("claw.toml", "[agents.quiet]\ndescription = \"no bot\"\n");
    house.write("agents/quiet/persona/MEMORY.md", "what it has learned");
    house.write("agents/later/policy.toml", "# has not run yet\n");
    house.claw(&["--agent", "quiet", "ask", "--session", "its-own", "help"]).expect(0);
    house.claw(&["--agent", "quiet", "ask", "write left.txt: open"]).expect(3);
    let file = house.user_home().join("all.tar");
    house.claw(&["backup", file.to_str().unwrap()]).expect(0);
    let other = House::new();
    let said = other.claw(&["restore", file.to_str().unwrap()]).expect(0).out;
    assert!(said.contains("quiet/main"), "the agent's open turn is stopped, too: {said}");
    let sessions = other.claw(&["--agent", "quiet", "sessions", "--json"]).expect(0).rows();
    let ids: Vec<&str> = sessions.iter().map(|session| session["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"its-own") && ids.contains(&"main"), "{ids:?}");
    assert_eq!(
        std::fs::read_to_string(other.home().join("agents/quiet/persona/MEMORY.md")).unwrap(),
        "what it has learned"
    );
    assert!(
        other.home().join("agents/later/policy.toml").is_file(),
        "rules count before the first run, too"
    );
    other.claw(&["doctor"]).expect(0);
}

#[test]
fn what_is_typed_for_one_agent_is_not_for_all() {
    let house = House::new();
    let folder = house.user_home().join("typed");
    house.write("claw.toml", "[agents.quiet]\n[agents.late]\n");
    let listed =
        house.claw(&["--workspace", folder.to_str().unwrap(), "doctor", "--json"]).expect(0).rows();
    let works = |id: &str| {
        listed.iter().find(|row| row["id"] == id).unwrap()["text"].as_str().unwrap().to_owned()
    };
    assert!(
        works("work").contains("/typed") && works("quiet/work").contains("agents/quiet/workspace"),
        "{listed:?}"
    );
    // The stop switch reaches an agent that has never run.
    std::fs::remove_dir_all(house.home().join("agents/late")).unwrap();
    house.claw(&["panic", "on"]).expect(0);
    let late = house.claw(&["--agent", "late", "panic", "status", "--json"]).expect(0).json();
    assert_eq!(late["on"], true);
    house.claw(&["--agent", "quiet", "backup", "x.tar"]).expect_mistake(&["leave out `--agent`"]);
}
