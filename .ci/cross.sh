# For the jobs that build for other machines than this. Sourced after lib.sh, not run.

# Makes sure that Debian packages are there, or skips the job.
packages() {
    local package missing=() sudo=()
    for package; do
        [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *' installed' ]] || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    command -v apt-get >/dev/null || skip "no ${missing[*]}, and no apt-get to install them with"
    [[ $(id -u) == 0 ]] || sudo=(sudo -n)
    local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600)
    run "${apt[@]}" update || skip "no list of packages to install ${missing[*]} from"
    run "${apt[@]}" install -y --no-install-recommends "${missing[@]}" || skip "cannot install ${missing[*]}"
}

# Sets `cargo`, the command that builds for a target: rustup's where it has the target; else Debian's, which comes
# with the sources that it builds the standard library from, and then `built_std` is true. $2: which of its crates.
# What it builds is in `$cross_dir/TARGET`.
cross() {
    local target=$1 crates=$2
    cross_dir=$(realpath -m "${CARGO_TARGET_DIR:-target}")/cross
    cargo=(env "CARGO_TARGET_DIR=$cross_dir" cargo)
    target_flags=(--target "$target")
    built_std=false
    if rustup target list --installed 2>/dev/null | grep -qx "$target"; then return; fi

    printf '\nrustup has no standard library for %s (rustup target add %s); Debian'\''s Rust builds it\n' "$target" "$target"
    packages rustc-web rust-web-src cargo-web lld-22
    # The variable lets a stable compiler build a standard library.
    cargo=(env "PATH=/usr/bin:$PATH" RUSTC_BOOTSTRAP=1 "CARGO_TARGET_DIR=$cross_dir" cargo)
    target_flags=(-Z "build-std=$crates" --target "$target")
    built_std=true
}
