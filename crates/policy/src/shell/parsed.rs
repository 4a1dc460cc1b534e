//! The second reader: `brush-parser`'s tree, accepted only where every node is of the few kinds
//! that are literal. The crate is named here alone. Must not know programs or the other reader.
//!
//! Version 0.3 and not 0.4: the newer one ships a snapshot tester (insta, pest) as an ordinary
//! dependency.

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem, Pipeline, SeparatorOperator, SimpleCommand, Word,
};
use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions, SourceInfo};

use super::{Joint, ShellStep};

pub(super) fn read(text: &str) -> Option<Vec<ShellStep>> {
    let options = ParserOptions::default();
    let program =
        Parser::new(text.as_bytes(), &options, &SourceInfo::default()).parse_program().ok()?;
    let mut steps = Vec::new();
    for item in program.complete_commands.iter().flat_map(|command| &command.0) {
        if !matches!(item.1, SeparatorOperator::Sequence) {
            return None;
        }
        let joint = if steps.is_empty() { Joint::Start } else { Joint::Then };
        pipeline(&item.0.first, joint, &options, &mut steps)?;
        for further in &item.0.additional {
            match further {
                AndOr::And(next) => pipeline(next, Joint::And, &options, &mut steps)?,
                AndOr::Or(next) => pipeline(next, Joint::Or, &options, &mut steps)?,
            }
        }
    }
    (!steps.is_empty()).then_some(steps)
}

fn pipeline(
    pipeline: &Pipeline,
    joint: Joint,
    options: &ParserOptions,
    steps: &mut Vec<ShellStep>,
) -> Option<()> {
    if pipeline.timed.is_some() || pipeline.bang {
        return None;
    }
    for (index, command) in pipeline.seq.iter().enumerate() {
        let Command::Simple(simple) = command else { return None };
        let words = words(simple, options)?;
        steps.push(ShellStep { joint: if index == 0 { joint } else { Joint::Pipe }, words });
    }
    Some(())
}

fn words(simple: &SimpleCommand, options: &ParserOptions) -> Option<Vec<String>> {
    // Assignments and redirections before the program.
    if simple.prefix.is_some() {
        return None;
    }
    let mut words = vec![literal(simple.word_or_name.as_ref()?, options)?];
    for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
        let word = match item {
            // `key=value` behind a program is a word like any other, and is read as one.
            CommandPrefixOrSuffixItem::Word(word)
            | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => word,
            CommandPrefixOrSuffixItem::IoRedirect(_)
            | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                return None;
            }
        };
        words.push(literal(word, options)?);
    }
    Some(words)
}

fn literal(word: &Word, options: &ParserOptions) -> Option<String> {
    let mut text = String::new();
    append(&brush_parser::word::parse(&word.value, options).ok()?, &mut text)?;
    Some(text)
}

fn append(pieces: &[WordPieceWithSource], text: &mut String) -> Option<()> {
    for piece in pieces {
        match &piece.piece {
            WordPiece::Text(part) | WordPiece::SingleQuotedText(part) => text.push_str(part),
            WordPiece::DoubleQuotedSequence(inner) => append(inner, text)?,
            _ => return None,
        }
    }
    Some(())
}
