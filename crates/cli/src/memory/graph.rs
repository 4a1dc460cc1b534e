//! `claw memory graph`: the links of one note in both directions, or of all notes as a list. Owns
//! how it is drawn.

use std::process::ExitCode;

use claw_kit::counted::counted;
use claw_mcp_memory::{End, Node, Notes};

use super::mistake;
use crate::{fail, out};

pub fn run(notes: &Notes, name: Option<&str>, as_json: bool) -> anyhow::Result<ExitCode> {
    let nodes = notes.graph(name).map_err(mistake)?;
    for node in &nodes {
        let line = if as_json { serde_json::to_string(node)? } else { out::clean(&drawn(node)) };
        out::line(&line)?;
    }
    if !as_json {
        out::err_line(&told(&nodes, name.is_some()));
    }
    Ok(ExitCode::from(fail::DONE))
}

/// The note, and a line for each link: an arrow away from it, or to it.
fn drawn(node: &Node) -> String {
    let mut lines = vec![named(&node.subject, node.id.as_deref())];
    lines.extend(node.links.iter().map(|end| format!("  → {}", drawn_end(end))));
    lines.extend(node.linked_from.iter().map(|end| format!("  ← {}", drawn_end(end))));
    lines.join("\n")
}

/// `works at: Acme [m2]`
fn drawn_end(end: &End) -> String {
    let relation = if end.relation.is_empty() { "" } else { ": " };
    format!("{}{relation}{}", end.relation, named(&end.subject, end.id.as_deref()))
}

fn named(subject: &str, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("{subject} [{id}]"),
        None => format!("{subject} (no note)"),
    }
}

/// What the arrows mean, or what to do where there are none.
fn told(nodes: &[Node], is_one: bool) -> String {
    let ends = || nodes.iter().flat_map(|node| &node.links);
    let count = ends().count() + nodes.iter().map(|node| node.linked_from.len()).sum::<usize>();
    match (count, is_one) {
        (0, _) => "No links. `[[Name]]` in a note links it to the note of that name.".to_owned(),
        (_, true) => "→ links to, ← is linked from".to_owned(),
        (count, false) => {
            let notes = nodes.len();
            let missing = ends().filter(|end| end.id.is_none()).count();
            let missing = match missing {
                0 => String::new(),
                missing => format!("; {missing} to no note"),
            };
            format!("{}, from {}{missing}", counted(count, "link"), counted(notes, "note"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(subject: &str, relation: &str, id: Option<&str>) -> End {
        End { subject: subject.into(), relation: relation.into(), id: id.map(str::to_owned) }
    }

    #[test]
    fn a_note_stands_above_its_links_in_both_directions() {
        let node = Node {
            id: Some("m1".into()),
            subject: "Anna".into(),
            links: vec![end("Acme", "works at", Some("m2")), end("Graz", "", None)],
            linked_from: vec![end("Summer", "guest", Some("m3"))],
        };
        assert_eq!(
            drawn(&node),
            "Anna [m1]\n  → works at: Acme [m2]\n  → Graz (no note)\n  ← guest: Summer [m3]"
        );
        let one = [Node { linked_from: Vec::new(), ..node }];
        assert_eq!(told(&one, false), "2 links, from 1 note; 1 to no note");
        assert!(told(&[], false).starts_with("No links."));
    }
}
