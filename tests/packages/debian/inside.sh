#!/usr/bin/env bash
# Runs in the chroot: see run.sh.
set -euo pipefail
cd /test
step=''
# Its processes end with the name space.
trap '[[ $step == passed ]] || echo "debian: failed: $step" >&2' EXIT
export DEBIAN_FRONTEND=noninteractive

step() {
  step=$1
  echo "debian: $1"
}

# has FILE TEXT: whether a file contains a text
has() {
  grep --quiet --fixed-strings --text -- "$2" "$1" || { echo "$1 has no \"$2\":" && cat "$1" && false; } >&2
}

# refuses COMMAND...: fails if the command succeeds
refuses() {
  if "$@"; then
    echo "this should have failed: $*" >&2
    return 1
  fi
}

step 'it installs, without Rust'
for command in cargo rustc; do
  refuses command -v "$command"
done
apt-get install --yes --no-install-recommends ./selenite_*.deb >installed 2>&1 || { cat installed && false; }
version=$(dpkg-query --show --showformat='${Version}' selenite)
[[ $(selenite --version) == "selenite ${version%-*}"* ]]
[[ $(getent passwd selenite) == selenite:*:/var/lib/selenite:/usr/sbin/nologin ]]
[[ $(dpkg --verify selenite) == '' ]]

step 'sqlite3 of this system opens what the command encrypted, and only with its key'
selenite keygen -o key.txt >/dev/null 2>&1
selenite keygen -o other.txt >/dev/null 2>&1
sqlite3 app.db "CREATE TABLE note(body); INSERT INTO note VALUES ('planted text')"
has app.db 'planted text'
selenite --identity key.txt encrypt app.db >/dev/null 2>&1
refuses grep --quiet 'planted text' app.db
query=(':memory:' '.load libselenite' '.open file:app.db?vfs=selenite' 'SELECT body FROM note')
[[ $(SELENITE_IDENTITY=key.txt sqlite3 "${query[@]}") == 'planted text' ]]
refuses env SELENITE_IDENTITY=other.txt sqlite3 "${query[@]}" 2>refused
has refused 'file is not a database'
query[1]="SELECT load_extension('libselenite')"
[[ $(SELENITE_IDENTITY=key.txt sqlite3 "${query[@]}") == *'planted text' ]]

step 'every manual page renders'
for page in /usr/share/man/man1/selenite*.1.gz; do
  mandoc -T utf8 -W error "$page" >rendered
  (($(wc -l <rendered) > 10))
done
man --pager=cat selenite-encrypt >rendered
has rendered 'selenite encrypt'

step 'completions parse, and bash completes'
bash -n /usr/share/bash-completion/completions/selenite
zsh -n /usr/share/zsh/vendor-completions/_selenite
fish --no-execute /usr/share/fish/vendor_completions.d/selenite.fish
[[ $(fish --command 'complete --do-complete "selenite encr"') == encrypt* ]]
bash -c '. /usr/share/bash-completion/completions/selenite
  COMP_WORDS=(selenite encr) COMP_CWORD=1
  _selenite selenite encr selenite
  [[ ${COMPREPLY[*]} == encrypt ]]'

step 'systemd accepts the unit, and finds little that it exposes'
systemd-analyze verify --man=no selenite-serve.service
# In tenths.
systemd-analyze security --offline=true --threshold=15 --no-pager selenite-serve.service >exposure ||
  { cat exposure && false; }
tail -n 1 exposure

step 'the command of the unit serves, as its user and without rights'
[[ ! -e /var/lib/selenite ]]
unit=/usr/lib/systemd/system/selenite-serve.service
read -ra serve < <(sed -n 's/^ExecStart=//p' "$unit")
install --directory --mode="$(sed -n 's/^StateDirectoryMode=//p' "$unit")" --owner=selenite --group=selenite \
  /var/lib/selenite

start() {
  mkfifo said
  (
    cd /var/lib/selenite
    ulimit -c 0
    exec env HOME=/var/lib/selenite setpriv --reuid=selenite --regid=selenite --clear-groups --no-new-privs \
      --bounding-set=-all --inh-caps=-all "${serve[@]}"
  ) >said 2>notes &
  server=$!
  exec {out}<said
  rm said
  # To its first line, or its end.
  read -r line <&"$out" || { cat notes && false; } >&2
  [[ $line == 'listening on 127.0.0.1:1433' ]]
}

stop() {
  kill -TERM "$server"
  wait "$server"
  exec {out}<&-
}

# as_sa SQL
as_sa() {
  printf '%s\nGO\n' "$1" | TDSVER=7.4 tsql -H 127.0.0.1 -p 1433 -U sa -P "$(</var/lib/selenite/sa-password.txt)" \
    >answer 2>&1 || { cat answer && false; }
}

start
has notes 'password of login sa: in /var/lib/selenite/sa-password.txt'
refuses grep --quiet --file=/var/lib/selenite/sa-password.txt notes
as_sa "CREATE DATABASE shop"
as_sa "USE shop CREATE TABLE note(body varchar(40)) INSERT INTO note VALUES ('planted text') SELECT body FROM note"
has answer 'planted text'
[[ $(find /var/lib/selenite -name 'shop*' -exec grep --files-with-matches 'planted text' {} +) == '' ]]
[[ $(find /var/lib/selenite -perm /077 -o -not -user selenite) == '' ]]
stop

step 'an upgrade keeps settings and data'
echo '# changed' >>/etc/selenite/serve.toml
dpkg --install ./selenite_*.deb >installed 2>&1 || { cat installed && false; }
has /etc/selenite/serve.toml '# changed'
start
as_sa 'SELECT body FROM shop.dbo.note'
has answer 'planted text'
stop

if compgen -G 'libselenite-dev_*.deb' >/dev/null; then
  step 'a C program links the static library, with this SQLite and with one that has no extensions'
  dpkg --install ./libselenite-dev_*.deb >installed 2>&1 || { cat installed && false; }
  read -ra glue < <(pkg-config --variable=source selenite)
  read -ra flags < <(pkg-config --cflags --libs selenite)
  warnings=(-Wall -Wextra -Wpedantic -Werror)
  cc "${warnings[@]}" static.c "${glue[@]}" "${flags[@]}" -lsqlite3 -o with-shared
  mkdir own && mv sqlite3.c sqlite3.h sqlite3ext.h own
  cc -DSQLITE_OMIT_LOAD_EXTENSION -c own/sqlite3.c -o own/sqlite3.o
  cc "${warnings[@]}" -Iown -DSQLITE_OMIT_LOAD_EXTENSION static.c "${glue[@]}" own/sqlite3.o "${flags[@]}" -o with-own
  for program in ./with-shared ./with-own; do
    "$program" 2>notes || { cat notes && false; }
    has notes 'call selenite_register()'
    refuses grep --quiet 'planted text' static.db
  done
  dpkg --remove libselenite-dev >/dev/null
  [[ ! -e /usr/include/selenite.h ]]
fi

step 'removal and purge leave databases and keys'
find /var/lib/selenite -type f -exec sha256sum {} + >before
dpkg --remove selenite >/dev/null
[[ ! -e /usr/bin/selenite ]]
[[ -f /etc/selenite/serve.toml ]]
dpkg --purge selenite >purged 2>&1
has purged 'databases and keys stay in /var/lib/selenite'
[[ ! -e /etc/selenite ]]
sha256sum --check --quiet before
[[ $(dpkg-query --show selenite 2>/dev/null) == '' ]]
step=passed
echo 'debian: passed'
