#![allow(warnings)]
use selenite_server::*;
use std::sync::Arc;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let get = |k: &str| args.iter().position(|a| a == k).map(|i| args[i + 1].clone());
    let settings = Settings {
        data: get("--data").map(Into::into), identity: get("--identity"), listen: get("--listen"),
        encryption: get("--encryption"), ..Settings::default()
    };
    let mut config = settings.config(Default::default()).unwrap();
    config.log = Log::new(|line| eprintln!("{line}"));
    let running = Server::start(config, &mut |a| {
        if let Announcement::Password(p) = a { println!("password: {p}"); }
        Ok(())
    }, |_| Ok(Arc::new(SqlFront::new(Arc::new(selenite_server::workbench::Bare))) as Arc<dyn Front>)).unwrap();
    println!("listening on {}", running.address());
    use std::io::Read; std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    running.stop();
}
