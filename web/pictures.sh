#!/usr/bin/env bash
# Takes the pictures of docs/studio.md and docs/lessons anew, from the built page.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
node web/pictures.js "$folder"
.venv/bin/python web/pictures.py "$folder" docs/images
