# What the jobs have in common. Sourced, not run.

set -euo pipefail
exec </dev/null
export CI=true
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Shows a command (on stderr, so that its output can be captured) and runs it.
run() {
    {
        printf '\n+'
        printf ' %q' "$@"
        printf '\n'
    } >&2
    "$@"
}

# Ends the job with a failure, and the reason.
fail() {
    printf '\nFAILED: %s\n' "$*" >&2
    exit 1
}

# Ends the job as skipped, and says what to do about it.
skip() {
    printf '\n**** SKIPPED: %s ****\n' "$*" >&2
    exit 77
}

# Says that a part of a job is left out.
leave_out() {
    printf '\n**** LEFT OUT: %s ****\n' "$*" >&2
}

# Makes sure that a cargo subcommand is there.
need() {
    cargo --list | grep -q "^ *$1 *" || run cargo install --locked "cargo-$1"
}
