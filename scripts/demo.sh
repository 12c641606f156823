#!/bin/bash
# The demonstration: built-in data, no files needed.
set -euo pipefail
cd "$(dirname "$0")/.."
exec build/covshift demo "$@"
