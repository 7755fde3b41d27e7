//! `#[test_on_runtimes]` of tiberius' tests: an asynchronous function of a client becomes one test with Tokio and one
//! with smol. `connection_string = "NAME"` names the static that holds the string to connect with.

#![forbid(unsafe_code)]

use proc_macro::{TokenStream, TokenTree};

/// The tests of one function.
#[proc_macro_attribute]
pub fn test_on_runtimes(attribute: TokenStream, function: TokenStream) -> TokenStream {
    let connection = attribute
        .into_iter()
        .find_map(|token| match token {
            TokenTree::Literal(literal) => Some(literal.to_string().trim_matches('"').to_owned()),
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) => None,
        })
        .unwrap_or_else(|| "CONN_STR".to_owned());
    let name = function
        .clone()
        .into_iter()
        .skip_while(|token| token.to_string() != "fn")
        .nth(1)
        .expect("the attribute is that of a function");
    let tests = RUNTIMES.map(|(runtime, block_on, stream)| {
        format!(
            "#[test]
            fn {name}_{runtime}() -> tiberius::Result<()> {{
                let _ = &LOGGER_SETUP;
                {block_on}(async {{
                    let config = tiberius::Config::from_ado_string(&{connection})?;
                    let stream = {runtime}::net::TcpStream::connect(config.get_addr()).await?;
                    stream.set_nodelay(true)?;
                    {name}(tiberius::Client::connect(config, {stream}).await?).await
                }})
            }}"
        )
    });
    let mut all = function;
    for test in tests {
        all.extend(test.parse::<TokenStream>().expect("the text above is Rust"));
    }
    all
}

/// Name, what runs a future, and a connection as `futures` reads it.
const RUNTIMES: [(&str, &str, &str); 2] = [
    (
        "tokio",
        "tokio::runtime::Runtime::new()?.block_on",
        "tokio_util::compat::TokioAsyncReadCompatExt::compat(stream)",
    ),
    ("smol", "smol::block_on", "stream"),
];
