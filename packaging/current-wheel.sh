#!/usr/bin/env bash
# Prints the wheel in dist/ that was built from this commit for this machine; nothing where there is none, or where
# the sources have changed since.
cd "$(dirname "$0")/.." || exit 0
commit=$(git rev-parse --short=8 HEAD 2>/dev/null) || exit 0
git diff --quiet HEAD -- crates examples python Cargo.toml Cargo.lock pyproject.toml 2>/dev/null || exit 0
libc=manylinux
[[ ! -e /etc/alpine-release ]] || libc=musllinux
for wheel in dist/cwndlab-*"+g$commit-"*"$libc"*"_$(uname -m).whl"; do
    [[ ! -f $wheel ]] || { printf '%s\n' "$wheel"; exit 0; }
done
