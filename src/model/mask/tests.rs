use super::*;

/// Filler of letters and digits that no pattern wants in particular.
fn filler(length: usize) -> String {
    "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
        .chars()
        .cycle()
        .take(length)
        .collect()
}

#[test]
fn of_a_secret_where_a_line_is_cut_no_half_is_shown() {
    let token = format!("ghp_{}", filler(36));
    let front = "x".repeat(80);
    let words = format!("{front}\n{token} more");
    assert_eq!(line(&words, 100), format!("{front} *** more"));
    assert_eq!(line(&words, 83), format!("{front} *…"));
}

#[test]
fn published_formats_of_tokens_are_masked() {
    let hex = |length: usize| {
        "0a1b2c3d4e5f6789"
            .chars()
            .cycle()
            .take(length)
            .collect::<String>()
    };
    let tokens = [
        format!("ghp_{}", filler(36)),
        format!("gho_{}", filler(36)),
        format!("ghs_{}", filler(36)),
        format!("github_pat_{}_{}", filler(22), filler(59)),
        format!("glpat-{}", filler(20)),
        format!("gldt-{}", filler(20)),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        "ASIAIOSFODNN7EXAMPLE".to_owned(),
        format!("xoxb-{}-{}-{}", "123456789012", "1234567890123", filler(24)),
        format!("xoxp-{}", filler(40)),
        format!("xapp-1-A012345678-{}", filler(40)),
        format!(
            "https://hooks.slack.com/services/T00000000/B00000000/{}",
            filler(24)
        ),
        format!("sk-{}", filler(48)),
        format!("sk-proj-{}", filler(100)),
        format!("sk-ant-api03-{}-{}", filler(80), filler(12)),
        format!("AIza{}", filler(35)),
        format!("ya29.{}", filler(60)),
        format!("GOCSPX-{}", filler(28)),
        format!("npm_{}", filler(36)),
        format!("pypi-AgEIcHlwaS5vcmc{}", filler(60)),
        format!("rubygems_{}", hex(48)),
        format!("dckr_pat_{}", filler(27)),
        format!("sk_live_{}", filler(24)),
        format!("rk_test_{}", filler(24)),
        format!("whsec_{}", filler(32)),
        format!("eyJ{}.eyJ{}.{}", filler(20), filler(40), filler(43)),
        format!("SG.{}.{}", filler(22), filler(43)),
        format!("dop_v1_{}", hex(64)),
        format!("shpat_{}", hex(32)),
        format!("hvs.{}", filler(90)),
        format!("hf_{}", filler(34)),
        format!("gsk_{}", filler(52)),
        format!("xai-{}", filler(80)),
        format!("lin_api_{}", filler(40)),
        format!("dapi{}", hex(32)),
        format!("glsa_{}_{}", filler(32), hex(8)),
        format!("ATATT3{}", filler(180)),
        format!("AGE-SECRET-KEY-1{}", "QWERTYU7".repeat(7)),
    ];
    for token in &tokens {
        for around in [
            "@",
            "a @ b",
            "\"@\"",
            "(@)",
            "x=@;",
            "{\"text\":\"line\\n@\\nline\"}",
            "\u{1b}[31m@\u{1b}[0m",
            "a%20@%20b",
        ] {
            let text = around.replace('@', token);
            let masked = secrets(&text);
            let secret = token.trim_start_matches("https://");
            assert!(
                !masked.contains(secret) && masked.contains(MASK),
                "{text} → {masked}"
            );
            assert!(
                !masked.contains(&token[token.len() - 8..]),
                "{text} → {masked}"
            );
        }
    }
}

#[test]
fn a_token_beside_letters_outside_ascii_is_masked() {
    let key = format!("AKIA{}", "ABCDEFGH01234567");
    assert_eq!(
        secrets(&format!("schl\u{fc}ssel {key}\u{fc}ber")),
        "schl\u{fc}ssel ***\u{fc}ber"
    );
    let url = secrets("\u{fc}https://ci:hunter2@git.example.org/x.git");
    assert_eq!(url, "\u{fc}https://ci:***@git.example.org/x.git");
}

#[test]
fn what_is_assigned_to_a_secrets_name_is_masked_and_its_name_stays() {
    for (text, masked) in [
        (
            "key ghp_0123456789abcdefghijABCDEFGHIJ012345 end",
            "key *** end",
        ),
        ("API_KEY=abcdef123456 rest", "API_KEY=*** rest"),
        ("\"password\": \"hunter2222\"", "\"password\": \"***\""),
        (
            "{\\\"password\\\":\\\"hunter2222\\\"}",
            "{\\\"password\\\":\\\"***\\\"}",
        ),
        (
            "Authorization: Bearer abc.def.ghi",
            "Authorization: Bearer ***",
        ),
        (
            "authorization: Basic dXNlcjpwYXNz",
            "authorization: Basic ***",
        ),
        (
            "-H 'Authorization: token abcdef'",
            "-H 'Authorization: token ***'",
        ),
        ("Bearer abcdefgh01234567", "Bearer ***"),
        ("PRIVATE-TOKEN: abc123def456", "PRIVATE-TOKEN: ***"),
        (
            "fatal: https://ci:hunter2@git.example.org/x.git not found",
            "fatal: https://ci:***@git.example.org/x.git not found",
        ),
        (
            "postgres://u:p@ss@db:5432/x and http://127.0.0.1:80/a@b",
            "postgres://u:***@db:5432/x and http://127.0.0.1:80/a@b",
        ),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws_secret_access_key = ***",
        ),
        (
            "secretAccessKey: '/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'",
            "secretAccessKey: '***'",
        ),
        ("DB_PASSWORD=correcthorse", "DB_PASSWORD=***"),
        ("password: \"correct horse 9\"", "password: \"***\""),
        ("pwd: s3cr3t!", "pwd: ***"),
        (
            "mysql --password s3cr3tpw -u root",
            "mysql --password *** -u root",
        ),
        (
            "GET /x?access_token=abc123def456&a=1",
            "GET /x?access_token=***&a=1",
        ),
        ("GET /x?sig=abc123def456ghi789&a=1", "GET /x?sig=***&a=1"),
        ("STRIPE_KEY=abcdefgh0123", "STRIPE_KEY=***"),
        ("refreshToken: 'abc123def'", "refreshToken: '***'"),
        (
            "AccountKey=Zm9vYmFyYmF6cXV4Zm9vYmFy==;EndpointSuffix=x",
            "AccountKey=***;EndpointSuffix=x",
        ),
    ] {
        assert_eq!(secrets(text), masked);
        assert_eq!(secrets(masked), masked, "masking twice changes something");
    }
}

#[test]
fn a_secret_of_letters_alone_is_masked_where_it_is_all_that_is_said() {
    for (text, masked) in [
        ("password: correcthorsebattery", "password: ***"),
        (
            "db.password = correcthorse\r\nnext",
            "db.password = ***\r\nnext",
        ),
        ("INFO passwd: CORRECTHORSE  \n", "INFO passwd: ***  \n"),
        (
            "lesson: the secret => correcthorse",
            "lesson: the secret => ***",
        ),
        ("  - token: correcthorse\n", "  - token: ***\n"),
        ("my auth_token: correcthorse", "my auth_token: ***"),
        (
            "{\"a\":\"api_key: correcthorse\\n\"}",
            "{\"a\":\"api_key: ***\\n\"}",
        ),
        ("say 'password: correcthorse'", "say 'password: ***'"),
    ] {
        assert_eq!(secrets(text), masked);
        assert_eq!(secrets(masked), masked);
    }
    for text in [
        "password: required",
        "token: expected",
        "secret: undefined",
        "passphrase: optional",
        "api_key: yourapikey",
        "error: unexpected token: identifier",
        "invalid token: punctuator",
        "password: correct horse battery",
        "password: correcthorse for the first login",
        "    password: SecretString",
        "  { password: userpassword, token: sessiontoken }",
        "let secret = nextsecret;",
        "password: correct",
        "tokens: something, secretly: something",
    ] {
        assert_eq!(secrets(text), text);
    }
}

#[test]
fn passwords_of_accounts_are_masked_and_the_account_stays() {
    for (text, masked) in [
        (
            "curl -u admin:geheim https://x.example",
            "curl -u admin:*** https://x.example",
        ),
        (
            "curl -sSfu 'me:p:w' https://x.example",
            "curl -sSfu 'me:***' https://x.example",
        ),
        (
            "curl --user=me:pw --proxy-user you:pw2 x",
            "curl --user=me:*** --proxy-user you:*** x",
        ),
        (
            "- {check: \"curl -fu ci:Tr0ub4dor x | grep ok\"}",
            "- {check: \"curl -fu ci:*** x | grep ok\"}",
        ),
        ("wget -U x -u bob:hunter2 y", "wget -U x -u bob:*** y"),
        (
            "sshfs deploy:hunter2@build.example.org:/srv",
            "sshfs deploy:***@build.example.org:/srv",
        ),
        ("dsn=root:s3cr3t@localhost/db", "dsn=root:***@localhost/db"),
        ("connect (sa:Pass!@10.0.0.7)", "connect (sa:***@10.0.0.7)"),
    ] {
        assert_eq!(secrets(text), masked);
    }
}

#[test]
fn digests_ids_code_and_prose_stay_readable() {
    for text in [
        "docker run -u 1000:1000 image",
        "docker run -u www-data:www-data image",
        "curl -u \"$USER:$PASSWORD\" https://x.example",
        "curl -u ci:${CI_TOKEN} x",
        "image:v1.2@sha256:4cc09a727ae90b2f79384edfe22aa2a638d5c08d30e2f25cf756ebf37cd064df",
        "mailto:john2@example.org",
        "npm:left-pad@1.3.0",
        "src/a.rs:12:34 user@example.org",
        "12:30:45 login by me2@example.org",
        "scp host.example.org:file1 other@example.org:",
        "assert token == 5",
        "src/secret.rs:3: error",
        "2b36b27a8c5422b075fc6fd144dcc0f3b4f378ba",
        "sha256:4cc09a727ae90b2f79384edfe22aa2a638d5c08d30e2f25cf756ebf37cd064df",
        "sha512-z9Xm5Vq0Zk1yJmYzN2M4ZTE5ZjBiYTg3NjU0MzIxMDk4NzY1NDMyMQ==",
        "123e4567-e89b-12d3-a456-426614174000",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJxK5YB7kTqYvR2tqv0c0Z9c1gZb8Q user@host",
        "password: required",
        "let password: String = prompt();",
        "fn login(password: &str, secret: Option<String>)",
        "password = getpass.getpass()",
        "password=$DB_PASSWORD",
        "password: ${{ secrets.PASSWORD }}",
        "secret: <redacted>",
        "private_key: /etc/ssl/private/site.pem",
        "password: \"must not be empty\"",
        "passwords do not match: expected 12345678",
        "max_tokens=128000, input_tokens: 45120",
        "token_count=128000",
        "unexpected token: `)`",
        "the bearer certificate expired",
        "class=\"sk-circle-fade-dot sk-three-bounce-container\"",
        "risk-assessment-of-the-whole-project-2024",
        "monkey=banana, keyboard=qwertz, primary_key=id",
        "KEY_F1=10 HOTKEY=control",
        "cargo:rerun-if-env-changed=CARGO_PKG_VERSION",
        "http://localhost:8080/path?key=short",
        "git@github.com:owner/repo.git",
        "error[E0308]: mismatched types, expected `Token`",
        "PWD=/home/me/project",
        "-----BEGIN RSA PRIVATE KEY----- is what the linter looks for",
    ] {
        let masked = secrets(text);
        let is_key = text.starts_with("-----BEGIN RSA");
        match is_key {
            // Its first line is masked, and with it no more than a word.
            true => assert!(masked.ends_with("what the linter looks for"), "{masked}"),
            false => assert_eq!(masked, text),
        }
    }
}

#[test]
fn a_private_key_is_masked_as_it_is_and_as_json() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nabc=\n";
    for kind in ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""] {
        let key =
            format!("-----BEGIN {kind}PRIVATE KEY-----\n{body}-----END {kind}PRIVATE KEY-----");
        assert_eq!(secrets(&format!("a\n{key}\nb")), "a\n***\nb");
        let escaped = format!("{{\"a\":\"{}\"}}", key.replace('\n', "\\n"));
        assert_eq!(secrets(&escaped), "{\"a\":\"***\"}");
    }
    let encrypted = format!(
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n{body}-----END RSA PRIVATE KEY-----"
    );
    assert_eq!(secrets(&encrypted), "***");
    let pgp = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{body}=abcd\n-----END PGP PRIVATE KEY BLOCK-----"
    );
    assert_eq!(secrets(&pgp), "***");
}

#[test]
fn a_document_stays_one_whatever_is_masked_in_it() {
    let mut document = serde_json::json!({
        "reason": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw", "api_key": "hunter2222", "count": 5,
        "notes": ["https://u:hunter2@host/x", {"password": "must not be empty"}], "weight": null,
    });
    value(&mut document);
    assert_eq!(
        document,
        serde_json::json!({
            "reason": "***", "api_key": "***", "count": 5, "notes": ["https://u:***@host/x", {"password": "must not be empty"}], "weight": null,
        })
    );
}

#[test]
fn only_variables_that_hold_secrets_count() {
    for (name, is_secret) in [
        ("GITHUB_TOKEN", true),
        ("ANTHROPIC_API_KEY", true),
        ("AWS_SECRET_ACCESS_KEY", true),
        ("DB_PASSWORD", true),
        ("MYSQL_PWD", true),
        ("MY_SECRET", true),
        ("PWD", false),
        ("OLDPWD", false),
        ("PATH", false),
        ("KEYBOARD", false),
        ("MONKEY", false),
    ] {
        assert_eq!(assigned::is_secret_variable(name), is_secret, "{name}");
    }
    for (value, is_told) in [
        ("correct-horse-9", true),
        ("0123456789abcdef", true),
        ("short", false),
        ("password", false),
        ("/home/me/.ssh/id_ed25519", false),
    ] {
        assert_eq!(is_distinctive(value), is_told, "{value}");
    }
}

#[test]
fn spaces_and_letters_outside_ascii_hide_no_secret() {
    let body = filler(64);
    let indented = format!(
        "-----BEGIN PRIVATE KEY-----\n\u{a0}\u{a0}{body}\n\u{a0}\u{a0}-----END PRIVATE KEY-----"
    );
    let commented = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nComment: {}\n\n{body}\n-----END PGP PRIVATE KEY BLOCK-----",
        "ж".repeat(150)
    );
    for (text, secret) in [
        (indented, body.as_str()),
        (commented, body.as_str()),
        (
            "Bearer\u{a0}opaque-token-12345678".to_owned(),
            "opaque-token",
        ),
        (
            "\u{3000}admin:Passw0rd!@db.example.com".to_owned(),
            "Passw0rd",
        ),
        ("curl\u{a0}-u user:ж1!pass".to_owned(), "ж1!pass"),
        ("curl -u user:hunter22\u{a0}***".to_owned(), "hunter22"),
        ("password=hunter22\u{a0}***".to_owned(), "hunter22"),
    ] {
        assert!(!secrets(&text).contains(secret), "{text}");
    }
}
