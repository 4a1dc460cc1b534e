//! What the model of a text says, whoever paints it.

use super::*;

fn plain(text: &str) -> Inline {
    Inline { piece: Piece::Text(text.into()), emphasis: Emphasis::default() }
}

fn words(document: &Document) -> Vec<String> {
    let text = |inlines: &Vec<Inline>| {
        inlines
            .iter()
            .map(|inline| match &inline.piece {
                Piece::Text(text) | Piece::Code(text) | Piece::Html(text) => text.as_str(),
                _ => "|",
            })
            .collect::<String>()
    };
    document
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Paragraph { text: inlines, .. } | Block::Heading { text: inlines, .. } => {
                Some(text(inlines))
            }
            Block::Code { text, .. } | Block::Html(text) => Some(text.clone()),
            _ => None,
        })
        .collect()
}

#[test]
fn blocks_stand_in_their_order_with_the_edges_of_what_holds_them() {
    let read = Document::read("- a\n  > b\n\n7. ```rust ignore\n   c\n   ```\n");
    let bullet = Container::Item(Marker::Bullet { depth: 1 });
    let number = Container::Item(Marker::Number(7));
    let expected = vec![
        Block::Enter(Container::List),
        Block::Enter(bullet),
        Block::Paragraph { text: vec![plain("a")], tight: true },
        Block::Enter(Container::Quote),
        Block::Paragraph { text: vec![plain("b")], tight: false },
        Block::Leave(Container::Quote),
        Block::Leave(bullet),
        Block::Leave(Container::List),
        Block::Enter(Container::List),
        Block::Enter(number),
        Block::Code { language: Some("rust".into()), text: "c\n".into() },
        Block::Leave(number),
        Block::Leave(Container::List),
    ];
    assert_eq!(read.blocks, expected);
    assert_eq!(read.last_block, "- a\n  > b\n\n".len());
}

#[test]
fn a_link_without_text_shows_its_address_and_a_definition_is_text() {
    let read = Document::read("[](https://a.org) ![](b.png) [us](mailto:us)\n\n[x]: https://c.org");
    let links: Vec<(&str, bool)> =
        read.links.iter().map(|link| (link.text.as_str(), link.names_its_address())).collect();
    assert_eq!(links, [("https://a.org", true), ("b.png", true), ("us", true)]);
    assert_eq!(words(&read).last().map(String::as_str), Some("[x]: https://c.org"));
}

#[test]
fn emphasis_counts_once_however_often_it_was_opened() {
    let read = Document::read("**a *b **c** d***");
    let Some(Block::Paragraph { text, .. }) = read.blocks.first() else {
        panic!("{:?}", read.blocks)
    };
    let strong = |inline: &Inline| (inline.emphasis.strong, inline.emphasis.italic);
    assert_eq!(
        text.iter().map(strong).collect::<Vec<_>>(),
        [(true, false), (true, true), (true, true), (true, true)]
    );
}

#[test]
fn a_prefix_is_read_as_it_will_most_likely_go_on() {
    assert_eq!(Document::read_prefix("a **b"), Document::read("a **b**"));
    assert_eq!(Document::read_prefix("```\na\n``"), Document::read("```\na\n```"));
}

/// A model may nest as deep as its answer is long: reading, copying and dropping take no stack.
#[test]
fn deep_nesting_needs_no_stack() {
    let read = Document::read(&format!("{}x", "> ".repeat(50_000)));
    let entered = read.blocks.iter().filter(|block| matches!(block, Block::Enter(_))).count();
    assert_eq!(read.blocks.len(), 2 * entered + 1);
}
