//! How large the terminal is. Must not know what is shown on it.

/// A terminal's size in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// The size of the terminal on standard output, or 80 by 24 if there is none.
pub fn terminal_size() -> Size {
    let size = rustix::termios::tcgetwinsize(std::io::stdout())
        .ok()
        .filter(|size| size.ws_col > 0 && size.ws_row > 0);
    size.map_or(Size { columns: 80, rows: 24 }, |size| Size {
        columns: size.ws_col.into(),
        rows: size.ws_row.into(),
    })
}
