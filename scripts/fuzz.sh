#!/bin/sh
# Runs every fuzz target of the repository, one after the other.
# usage: fuzz.sh [TIME]     each for TIME, such as 30s (the default)
# An input that makes one fail is kept by Go under that package's testdata/fuzz,
# where every later `go test` tries it: commit it with the mend.
set -u
time=${1:-30s}
cd "$(dirname "$0")/.." || exit 1

failed=""
for file in $(git grep -l '^func Fuzz' -- '*_test.go'); do
	package=./$(dirname "$file")
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "== $package $target"
		go test -tags headless -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" || failed="$failed $package:$target"
	done
done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
