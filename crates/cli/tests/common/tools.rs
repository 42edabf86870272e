//! Launchers with the names of measurement tools, which run the program and copy a database.

/// Takes `-o NAME` out of the options, and runs what follows them.
pub(crate) const PARSED: &str = r#"
while [ $# -gt 0 ]; do
    case $1 in
        -o) out=$2; shift 2;;
        --output=*) out=${1#--output=}; shift;;
        -t|-T|-e) shift; case $1 in -*|./*) ;; *) shift;; esac;;
        -*) shift;;
        *) break;;
    esac
done
"#;

/// Those of HPCToolkit: `$DATA` is the database that comes out.
pub(crate) fn hpctoolkit() -> [(&'static str, String); 3] {
    [
        ("hpcrun", format!("{PARSED}mkdir \"$out\"; echo hpcrun said this >&2; exec \"$@\"")),
        ("hpcstruct", "test -d \"$1\"".to_owned()),
        ("hpcprof", format!("{PARSED}test -d \"$1\" && cp -r \"$DATA\" \"$out\"")),
    ]
}
