//! A server without tables, to try clients on: `bare FOLDER PORT PASSWORD_FILE`.
//!
//! It runs until its standard input ends. The password of `sa` is written to the file when the folder is new.

use std::io::Read;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use selenite_server::workbench::Bare;
use selenite_server::{Announcement, Config, Front, Log, Server, SqlFront};
use selenite_tds::EncryptionMode;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let port: u16 = arguments.next().ok_or("which port?")?.parse()?;
    let file = PathBuf::from(arguments.next().ok_or("where to write the password?")?);
    let mut config = Config::new(folder.join("data"));
    config.new_identity = Some(folder.join("identity"));
    config.listen = SocketAddr::from(([127, 0, 0, 1], port));
    config.encryption = EncryptionMode::Optional;
    config.log = Log::new(|line| eprintln!("{line}"));
    let mut announce = |announcement: Announcement<'_>| match announcement {
        Announcement::Password(password) => std::fs::write(&file, password),
        Announcement::Identity { .. }
        | Announcement::Certificate { .. }
        | Announcement::NotLoopback(_)
        | Announcement::InClear(_) => Ok(()),
    };
    let open = |_: &Arc<_>| Ok(Arc::new(SqlFront::new(Arc::new(Bare))) as Arc<dyn Front>);
    let running = Server::start(config, &mut announce, open)?;
    println!("{}", running.address());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    running.stop();
    Ok(())
}
