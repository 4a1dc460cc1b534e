//! A provider's bytes in whole events: what is not finished waits here. Linear in what comes,
//! however small the pieces are. Must not know HTTP, or what an event means.

/// The longest event, in bytes. `genai` gets it in pieces of some hundred kilobytes and copies all
/// of it with each, so this bounds what one event costs. Arguments of a call may have one MiB.
pub(super) const EVENT_BYTES_MAX: usize = 8 << 20;

/// Where an event ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events: behind an empty line. Line ends may be LF, CR LF or CR.
    Events,
    /// Ollama: behind each line.
    Lines,
}

/// An event has more than [`EVENT_BYTES_MAX`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// What of one answer is not handed on yet.
#[derive(Debug)]
pub(super) struct WholeEvents {
    framing: Framing,
    /// Behind the last whole event.
    held: Vec<u8>,
    /// The last byte was a CR: a LF that follows belongs to it.
    after_cr: bool,
}

impl WholeEvents {
    pub(super) fn new(framing: Framing) -> Self {
        Self { framing, held: Vec::new(), after_cr: false }
    }

    /// All events that are whole now; empty if there is none.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<Vec<u8>, TooLong> {
        let known = self.held.len();
        match self.framing {
            Framing::Lines => self.held.extend_from_slice(piece),
            Framing::Events => self.with_plain_line_ends(piece),
        }
        let whole = match self.end_of_last(known) {
            Some(end) => {
                let rest = self.held.split_off(end);
                std::mem::replace(&mut self.held, rest)
            }
            None => Vec::new(),
        };
        if self.held.len() > EVENT_BYTES_MAX { Err(TooLong) } else { Ok(whole) }
    }

    /// What is left when the answer ends.
    pub(super) fn rest(self) -> Vec<u8> {
        self.held
    }

    /// `genai` takes a CR LF that is cut between two pieces for two line ends, and so half an event
    /// for a whole one. It gets LF alone.
    fn with_plain_line_ends(&mut self, piece: &[u8]) {
        let belongs = self.after_cr && piece.first() == Some(&b'\n');
        let piece = if belongs { piece.get(1..).unwrap_or_default() } else { piece };
        if piece.is_empty() {
            self.after_cr &= !belongs;
            return;
        }
        self.after_cr = piece.last() == Some(&b'\r');
        if !piece.contains(&b'\r') {
            self.held.extend_from_slice(piece);
            return;
        }
        let mut lines = piece.split(|byte| *byte == b'\r');
        self.held.extend_from_slice(lines.next().unwrap_or_default());
        for line in lines {
            self.held.push(b'\n');
            self.held.extend_from_slice(line.strip_prefix(b"\n").unwrap_or(line));
        }
    }

    /// Looks only at what has come since `known`, and at the one byte before it.
    fn end_of_last(&self, known: usize) -> Option<usize> {
        let end: &[u8] = match self.framing {
            Framing::Events => b"\n\n",
            Framing::Lines => b"\n",
        };
        let from = known.saturating_sub(end.len() - 1);
        let news = self.held.get(from..)?;
        let at = news.windows(end.len()).rposition(|bytes| bytes == end)?;
        Some(from + at + end.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is handed on, piece by piece, and the rest.
    fn passed(framing: Framing, text: &[u8], cuts: &[usize]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut events = WholeEvents::new(framing);
        let (mut out, mut left) = (Vec::new(), text);
        for cut in cuts {
            let (piece, tail) = left.split_at((*cut).min(left.len()));
            out.push(events.push(piece).unwrap());
            left = tail;
        }
        out.push(events.push(left).unwrap());
        (out.into_iter().filter(|whole| !whole.is_empty()).collect(), events.rest())
    }

    fn text_of(pieces: &[Vec<u8>]) -> String {
        String::from_utf8(pieces.concat()).unwrap()
    }

    #[test]
    fn an_event_in_small_pieces_is_handed_on_once() {
        let event = [b"data: ".as_slice(), &vec![b'x'; 4 << 20], b"\n\n"].concat();
        let (whole, rest) = passed(Framing::Events, &event, &vec![1400; event.len() / 1400]);
        assert_eq!(whole.iter().map(Vec::len).collect::<Vec<_>>(), [event.len()]);
        assert!(rest.is_empty());
    }

    #[test]
    fn an_event_without_an_end_is_given_up_and_not_kept_for_ever() {
        let mut events = WholeEvents::new(Framing::Events);
        let piece = vec![b'x'; 1 << 20];
        let taken = (0..100).take_while(|_| events.push(&piece) == Ok(Vec::new())).count();
        assert_eq!(taken, EVENT_BYTES_MAX >> 20);
    }

    #[test]
    fn what_has_no_end_is_handed_on_at_the_end() {
        let (whole, rest) = passed(Framing::Events, b"data: a\n\ndata: [DONE]", &[3]);
        assert_eq!(
            (text_of(&whole).as_str(), rest.as_slice()),
            ("data: a\n\n", &b"data: [DONE]"[..])
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn events_are_whole_wherever_they_are_cut_and_whatever_ends_their_lines(
            text in "([a:]|\r\n|\n|\r){0,40}",
            cuts in proptest::collection::vec(0..5_usize, 0..20),
        ) {
            let plain = text.replace("\r\n", "\n").replace('\r', "\n");
            let (whole, rest) = passed(Framing::Events, text.as_bytes(), &cuts);
            prop_assert_eq!([whole.concat(), rest.clone()].concat(), plain.as_bytes());
            prop_assert!(whole.iter().all(|events| events.ends_with(b"\n\n")));
            prop_assert!(!rest.windows(2).any(|end| end == b"\n\n"));
        }

        #[test]
        fn lines_are_whole_and_as_they_came(
            text in "([a:]|\r\n|\n|\r){0,40}",
            cuts in proptest::collection::vec(0..5_usize, 0..20),
        ) {
            let (whole, rest) = passed(Framing::Lines, text.as_bytes(), &cuts);
            prop_assert_eq!([whole.concat(), rest.clone()].concat(), text.as_bytes());
            prop_assert!(whole.iter().all(|lines| lines.ends_with(b"\n")));
            prop_assert!(!rest.contains(&b'\n'));
        }
    }
}
