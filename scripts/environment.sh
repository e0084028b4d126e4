# Sourced by the other scripts: a virtual environment with milpbn and its tools.
# Fast if nothing has changed; MILPBN_VENV sets another folder for the environment.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="${MILPBN_VENV:-$root/.venv}"

find_python() {
    local candidate
    for candidate in "${PYTHON:-}" python3.13 python3.12 python3.11 python3 python; do
        if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "milpbn needs Python 3.11 or newer; install it or set PYTHON=/path/to/python" >&2
    return 1
}

# prepare EXTRA: install milpbn from this checkout with an extra of pyproject.toml, or none.
prepare() {
    local what="$root${1:+[$1]}" stamp="$venv/.milpbn-${1:-plain}" wanted
    wanted="$(cksum <"$root/pyproject.toml") $root"
    if [ ! -x "$venv/bin/python" ]; then
        local python
        python="$(find_python)"
        echo "creating a virtual environment in $venv" >&2
        "$python" -m venv "$venv"
    fi
    if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
        echo "installing milpbn and its dependencies (only once)" >&2
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$what"
        echo "$wanted" >"$stamp"
    fi
}
