//! Worked examples, rule by rule, and the invariants over random text.

use super::*;

fn check(stem: bool, table: &[(&str, &[&str])]) {
    let mut tokenizer = Tokenizer::new(stem);
    for (text, terms) in table {
        assert_eq!(tokenizer.collect(text), *terms, "{text:?}");
    }
}

#[test]
fn plain_words_are_stemmed_and_stop_words_dropped() {
    check(
        true,
        &[
            ("", &[]),
            (" \t\n", &[]),
            ("The and of", &[]),
            ("running runner runs", &["run", "runner", "run"]),
            ("Organization organizes.", &["organ", "organ"]),
            ("generically generation generic", &["generic", "generat", "generic"]),
            ("flies dying fly", &["fli", "die", "fli"]),
            ("C, R and x", &["c", "r", "x"]),
            ("don't can't", &["don", "t", "t"]),
            ("x1 E0502 sha256", &["x1", "e0502", "sha256"]),
            ("WARNINGS", &["warn"]),
            ("path/to/file", &["path", "file"]),
            ("user@host:8080", &["user", "host", "8080"]),
        ],
    );
}

#[test]
fn stems_can_be_off() {
    check(
        false,
        &[
            ("The running runs", &["running", "runs"]),
            ("tasks_claim", &["tasks_claim", "tasks", "claim"]),
            ("na\u{ef}ve", &["na\u{ef}ve", "naive"]),
        ],
    );
}

#[test]
fn joiners_join_only_between_letters() {
    check(
        true,
        &[
            ("--verbose -x", &["verbos", "x"]),
            ("end. Then... stop", &["end", "stop"]),
            ("- _ . -- ... -._", &[]),
            ("a--b", &["b"]),
            ("__init__.py", &["init", "py"]),
            ("well-known", &["well-known", "well", "known"]),
            ("-well-known-.", &["well-known", "well", "known"]),
            ("e.g. this", &["e.g"]),
            ("it-is", &["it-is"]),
        ],
    );
}

#[test]
fn compounds_give_themselves_and_their_parts() {
    check(
        true,
        &[
            ("tasks_claim", &["tasks_claim", "task", "claim"]),
            ("SEAMLESS_DATA_DIR", &["seamless_data_dir", "seamless", "data", "dir"]),
            ("0.17.3", &["0.17.3", "17"]),
            ("v0.29.1", &["v0.29.1", "v0", "29"]),
            ("Cargo.toml", &["cargo.toml", "cargo", "toml"]),
            ("snake_case x1.", &["snake_case", "snake", "case", "x1"]),
            ("state-of-the-art", &["state-of-the-art", "state", "art"]),
            ("getUserName", &["getusernam", "get", "user", "name"]),
            ("HTTPServer", &["httpserver", "http", "server"]),
            ("XMLHttpRequest", &["xmlhttprequest", "xml", "http", "request"]),
            ("Base64Decoder", &["base64decoder", "base64", "decod"]),
            ("iOS", &["io", "os"]),
            ("xY", &["xy"]),
            ("toDo iS", &["todo"]),
            ("URLs IDs APIs", &["url", "id", "api"]),
            ("userIDs", &["userid", "user", "id"]),
            ("IPv6", &["ipv6"]),
            ("map.HashMap", &["map.hashmap", "map", "hashmap", "hash", "map"]),
            ("fs2::FileExt", &["fs2", "fileext", "file", "ext"]),
        ],
    );
}

#[test]
fn spaceless_scripts_give_bigrams() {
    check(
        true,
        &[
            // Chinese: "full text index, search".
            (
                "\u{5168}\u{6587}\u{7d22}\u{5f15}\u{ff0c}\u{641c}\u{7d22}",
                &["\u{5168}\u{6587}", "\u{6587}\u{7d22}", "\u{7d22}\u{5f15}", "\u{641c}\u{7d22}"],
            ),
            // One character alone.
            ("\u{732b}", &["\u{732b}"]),
            // Japanese: Han, Hiragana and Katakana in one run, the prolonged sound mark included.
            (
                "\u{6771}\u{4eac}\u{306e}\u{30bf}\u{30ef}\u{30fc}\u{3002}",
                &[
                    "\u{6771}\u{4eac}",
                    "\u{4eac}\u{306e}",
                    "\u{306e}\u{30bf}",
                    "\u{30bf}\u{30ef}",
                    "\u{30ef}\u{30fc}",
                ],
            ),
            // Katakana middle dot separates.
            ("\u{30a2}\u{30fb}\u{30a4}", &["\u{30a2}", "\u{30a4}"]),
            // Halfwidth "ga" + "-" is one voiced kana and the prolonged sound mark.
            ("\u{ff76}\u{ff9e}\u{ff70}", &["\u{30ac}\u{30fc}"]),
            // Korean, with a particle glued on; then decomposed jamo of the same noun.
            (
                "\u{d55c}\u{ad6d}\u{c5b4}\u{b97c} \u{ac80}\u{c0c9}",
                &["\u{d55c}\u{ad6d}", "\u{ad6d}\u{c5b4}", "\u{c5b4}\u{b97c}", "\u{ac80}\u{c0c9}"],
            ),
            ("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}", &["\u{d55c}\u{ad6d}"]),
            // Thai "language": the vowel sign is a character of the run.
            (
                "\u{e20}\u{e32}\u{e29}\u{e32}",
                &["\u{e20}\u{e32}", "\u{e32}\u{e29}", "\u{e29}\u{e32}"],
            ),
            // Lao, Khmer, Myanmar.
            ("\u{ea5}\u{eb2}\u{ea7}", &["\u{ea5}\u{eb2}", "\u{eb2}\u{ea7}"]),
            ("\u{1781}\u{17d2}\u{1798}", &["\u{1781}\u{17d2}", "\u{17d2}\u{1798}"]),
            ("\u{1019}\u{103c}\u{1014}", &["\u{1019}\u{103c}", "\u{103c}\u{1014}"]),
            // Two classes side by side are two runs.
            ("\u{6771}\u{d55c}", &["\u{6771}", "\u{d55c}"]),
            // Borders to Latin and digits, also behind a joiner.
            ("Rust\u{8a00}\u{8a9e}3\u{6708}", &["rust", "\u{8a00}\u{8a9e}", "3", "\u{6708}"]),
            ("v1.0\u{7248}", &["v1.0", "v1", "\u{7248}"]),
            ("Rust-\u{8a00}\u{8a9e}-x", &["rust", "\u{8a00}\u{8a9e}", "x"]),
            ("\u{6771}_\u{4eac}", &["\u{6771}", "\u{4eac}"]),
        ],
    );
}

#[test]
fn diacritics_are_kept_and_also_dropped() {
    check(
        true,
        &[
            ("caf\u{e9}", &["caf\u{e9}", "cafe", "caf"]),
            ("Cafe\u{301}", &["caf\u{e9}", "cafe", "caf"]),
            // Typed plainly it is searched as the stem, so the stem is here.
            ("na\u{ef}ve", &["na\u{ef}ve", "naiv"]),
            ("naive", &["naiv"]),
            ("R\u{e9}sum\u{e9}", &["r\u{e9}sum\u{e9}", "resum", "sum"]),
            // The bare form of "a grave" is a stop word.
            ("\u{c0}", &["\u{e0}"]),
            // Stroked o has no combining mark to drop.
            ("sm\u{f8}r", &["sm\u{f8}r"]),
            ("Stra\u{df}e", &["strass"]),
            ("\u{1e9e}", &["ss"]),
            ("\u{130}stanbul", &["i\u{307}stanbul", "istanbul", "stanbul"]),
            ("caf\u{e9}-bar", &["caf\u{e9}-bar", "cafe-bar", "caf\u{e9}", "cafe", "caf", "bar"]),
            (
                "get\u{dc}berName",
                &["get\u{fc}bername", "getubername", "get", "\u{fc}ber", "uber", "ber", "name"],
            ),
            // Greek keeps its accents, with one small sigma; Cyrillic likewise.
            ("\u{39b}\u{cc}\u{393}\u{39f}\u{3a3}", &["\u{3bb}\u{ec}\u{3b3}\u{3bf}\u{3c3}"]),
            ("\u{39b}\u{38c}\u{393}\u{39f}\u{3a3}", &["\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c3}"]),
            ("\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c2}", &["\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c3}"]),
            ("\u{41c}\u{43e}\u{439}", &["\u{43c}\u{43e}\u{439}"]),
        ],
    );
}

#[test]
fn other_scripts_give_whole_words() {
    check(
        true,
        &[
            // Arabic "peace, world" with its own comma; a vowel mark stays in the word.
            (
                "\u{633}\u{644}\u{627}\u{645}\u{60c} \u{639}\u{627}\u{644}\u{645}",
                &["\u{633}\u{644}\u{627}\u{645}", "\u{639}\u{627}\u{644}\u{645}"],
            ),
            ("\u{633}\u{64e}\u{644}\u{627}\u{645}", &["\u{633}\u{64e}\u{644}\u{627}\u{645}"]),
            // Hebrew between direction marks.
            ("\u{200f}\u{5e9}\u{5dc}\u{5d5}\u{5dd}\u{200e}", &["\u{5e9}\u{5dc}\u{5d5}\u{5dd}"]),
            // Devanagari: the virama is a mark that is no letter, and stays inside.
            (
                "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}",
                &["\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}"],
            ),
        ],
    );
}

#[test]
fn symbols_separate_and_invisible_characters_vanish() {
    check(
        true,
        &[
            ("\u{1f600}", &[]),
            ("ship\u{1f680}it\u{2764}\u{fe0f}now", &["ship", "now"]),
            // A family joined by zero-width joiners; a flag; an enclosed letter; a keycap.
            ("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", &[]),
            ("\u{1f1e9}\u{1f1ea} \u{1f170}", &[]),
            ("1\u{fe0f}\u{20e3}", &["1"]),
            ("\u{201c}claims\u{201d}\u{2026}", &["claim"]),
            ("a\u{2192}b", &["b"]),
            ("zero\u{200b}width soft\u{ad}hyphen", &["zerowidth", "softhyphen"]),
            ("\u{feff}\u{200b}\u{ad}", &[]),
            ("Intel\u{2122}", &["intel"]),
            ("well\u{2011}known", &["well-known", "well", "known"]),
            ("don\u{2019}t", &["don", "t"]),
            // A mark with nothing to stand on.
            ("\u{301} x", &["x"]),
        ],
    );
}

#[test]
fn compatibility_forms_are_unified() {
    check(
        true,
        &[
            ("\u{fb01}les", &["file"]),
            ("\u{ff32}\u{ff55}\u{ff53}\u{ff54}", &["rust"]),
            (
                "\u{ff54}\u{ff41}\u{ff53}\u{ff4b}\u{ff53}\u{ff3f}\u{ff49}\u{ff44}",
                &["tasks_id", "task", "id"],
            ),
            ("x\u{b2}", &["x2"]),
            ("\u{212a}elvin", &["kelvin"]),
        ],
    );
}

#[test]
fn long_words_are_cut() {
    let mut tokenizer = Tokenizer::new(true);
    let long = "a1b2".repeat(25 * 1024);
    assert_eq!(tokenizer.collect(&long), [&long[..64]]);
    // No stem for the head of a word: "runs..." cut behind an s would lose it.
    assert_eq!(tokenizer.collect(&"runs".repeat(20)), ["runs".repeat(16)]);
    // Three bytes each: 21 characters fit, the 22nd would end at 66.
    let greek = "\u{1f00}".repeat(1000);
    assert_eq!(tokenizer.collect(&greek), ["\u{1f00}".repeat(21)]);
    // A blob in mixed case adds one term, not one for each change of case.
    assert_eq!(tokenizer.collect(&"aBcD".repeat(1000)), ["abcd".repeat(16)]);
    // The parts of a long compound are still found.
    let path = format!("{}zebra", "ab-".repeat(30));
    let terms = tokenizer.collect(&path);
    assert_eq!(terms.len(), 32);
    assert_eq!(terms[0], path[..64]);
    assert_eq!(terms[31], "zebra");
}

#[test]
fn order_and_repeats_are_kept() {
    let mut tokenizer = Tokenizer::new(true);
    assert_eq!(tokenizer.collect("b a1 b c b"), ["b", "a1", "b", "c", "b"]);
    let first = tokenizer.collect("claims are claimed");
    assert_eq!(first, ["claim", "claim"]);
    assert_eq!(tokenizer.collect("claims are claimed"), first);
}

/// Text from a small alphabet of troublesome characters, so that neighbours meet often.
fn random_text(state: &mut u64) -> String {
    const ALPHABET: [char; 44] = [
        'a',
        's',
        'i',
        'n',
        'g',
        'X',
        'Y',
        '0',
        '9',
        '_',
        '-',
        '.',
        ' ',
        '/',
        '\'',
        '\0',
        '\u{7f}',
        '\u{85}',
        '\u{a0}',
        '\u{ad}',
        '\u{df}',
        '\u{e9}',
        '\u{130}',
        '\u{149}',
        '\u{301}',
        '\u{323}',
        '\u{345}',
        '\u{37a}',
        '\u{3c2}',
        '\u{639}',
        '\u{94d}',
        '\u{e33}',
        '\u{1100}',
        '\u{1161}',
        '\u{11a8}',
        '\u{200d}',
        '\u{2126}',
        '\u{2f00}',
        '\u{3099}',
        '\u{304b}',
        '\u{fb03}',
        '\u{fdfa}',
        '\u{ff9e}',
        '\u{1f600}',
    ];
    let mut next = || {
        // Knuth's MMIX constants.
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as u32
    };
    let length = next() % 24;
    (0..length)
        .map(|_| match next() % 8 {
            0 => char::from_u32(next() % 0x11_0000).unwrap_or('\u{fffd}'),
            _ => ALPHABET[next() as usize % ALPHABET.len()],
        })
        .collect()
}

#[test]
fn random_text_keeps_the_invariants() {
    let mut state = 42;
    for stem in [true, false] {
        let mut tokenizer = Tokenizer::new(stem);
        for _ in 0..200 {
            let (a, b) = (random_text(&mut state), random_text(&mut state));
            let mut apart = tokenizer.collect(&a);
            apart.extend(tokenizer.collect(&b));
            for term in &apart {
                assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES, "{a:?} {b:?} {term:?}");
                assert!(!term.contains(char::is_whitespace), "{a:?} {b:?} {term:?}");
            }
            assert_eq!(tokenizer.collect(&format!("{a} {b}")), apart, "{a:?} {b:?}");
            // A tokenizer that has seen other text gives the same.
            assert_eq!(Tokenizer::new(stem).collect(&a), apart[..tokenizer.collect(&a).len()]);
            assert!(word_set(&a).iter().all(|word| !word.is_empty()), "{a:?}");
        }
    }
}
