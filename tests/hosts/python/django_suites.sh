#!/usr/bin/env bash
# Runs suites of Django's own tests on encrypted databases, and the same on Django's own backend: as many tests are run,
# and as many are skipped. usage: django_suites.sh PYTHON FOLDER SUITES
set -euo pipefail
python=$1 folder=$2 suites=$3
here=$(cd "$(dirname "$0")" && pwd)

version=$("$python" -c 'import django; print(django.__version__)')
mkdir -p "$folder"
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
  --dest "$folder" "django==$version"
tar --extract --directory "$folder" --strip-components 1 --file "$folder/django-$version.tar.gz"
cp "$here/django_settings.py" "$folder/tests/selenite_settings.py"
export SELENITE_TEST_FOLDER=$folder/databases
mkdir -p "$SELENITE_TEST_FOLDER"
"$python" -m selenite keygen --output "$SELENITE_TEST_FOLDER/key.txt" >"$folder/keygen.log" 2>&1
cd "$folder/tests"

# run_suites ENGINE: what Django says of its tests.
run_suites() {
  # shellcheck disable=SC2086  # several suites
  SELENITE_TEST_ENGINE=$1 PYTHONPATH=$folder "$python" -W ignore runtests.py --settings=selenite_settings --parallel=1 \
    --noinput --verbosity=0 $suites >"$folder/$1.log" 2>&1 || { tail -n 60 "$folder/$1.log" >&2; return 1; }
  sed -n 's/^\(Ran [0-9]* tests\) in .*/\1/p; /^OK/p' "$folder/$1.log" | paste -sd ' '
}

encrypted=$(run_suites selenite.django)
# The settings look at each database when the process ends.
if ! grep --quiet 'encrypted: default' "$SELENITE_TEST_FOLDER/seen"; then
  echo 'hosts: the databases of the tests were not encrypted' >&2
  exit 1
fi
stock=$(run_suites django.db.backends.sqlite3)
printf 'django %s, %s\n  selenite.django: %s\n  stock sqlite3:   %s\n' "$version" "$suites" "$encrypted" "$stock"
[[ $encrypted == "$stock" ]]
