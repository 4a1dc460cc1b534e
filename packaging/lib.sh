# What the scripts that make packages share. Sourced, never run.

PACKAGING="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
ROOT="$(dirname "$PACKAGING")"
DIST="${DIST:-$ROOT/dist}"

# The version that Cargo.toml says.
version() {
    sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' "$ROOT/Cargo.toml"
}

# shared_files BINARY FOLDER: everything beside the program itself, made by the program.
shared_files() {
    local program="$1" folder="$2"
    mkdir -p "$folder/man/man1" "$folder/completions"
    "$program" man --dir "$folder/man/man1" 2>/dev/null
    "$program" completions bash >"$folder/completions/claw"
    "$program" completions zsh >"$folder/completions/_claw"
    "$program" completions fish >"$folder/completions/claw.fish"
}
