//! What waiting for a replica costs: transfers, pgbench's transactions and reads, with and without a synchronous
//! standby. All run on the same server, which has the standby either way; they take turns.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sqlx::{Connection as _, Executor as _};

use crate::Settings;
use crate::client::Client;
use crate::database::Server;
use crate::figures::{Figures, Sorted, median};
use crate::host::Host;
use crate::peer::Peer;
use crate::processor::Used;
use crate::report::say;
use crate::senders::{Service, Spread, Until};

/// Turns of each side; the median counts.
const TURNS: usize = 5;

/// Reads of one turn, one after the other.
const READS: usize = 300;

const NAME: &str = "bench_standby";

/// Longest wait for the standby to follow.
const START_TIME_MAX: Duration = Duration::from_secs(60);

/// A standby on a Unix socket. Killed when dropped.
struct Standby {
    process: Child,
    folder: PathBuf,
}

impl Standby {
    /// Copies the server's data and follows it, with the server's own program and user.
    async fn start(server: &Server) -> Self {
        let mut db = server.connect().await;
        let data: String = sqlx::query_scalar("show data_directory").fetch_one(&mut db).await.unwrap();
        let owner = std::fs::metadata(&data).unwrap();
        let program = std::fs::read_link(format!("/proc/{}/exe", server.pid())).unwrap();
        let folder = PathBuf::from(format!("/tmp/caudal-bench.{}.standby", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::chown(&folder, Some(owner.uid()), Some(owner.gid())).unwrap();
        let run = |program: &Path| {
            let mut command = Command::new(program);
            command.current_dir("/").uid(owner.uid()).gid(owner.gid()).stdin(Stdio::null());
            command
        };
        let copy = folder.join("data");
        let copied = run(&program.with_file_name("pg_basebackup"))
            .args(["--write-recovery-conf", "--checkpoint=fast", "--pgdata"])
            .arg(&copy)
            .args(["--dbname", &format!("{} application_name={NAME}", server.conninfo())])
            .output()
            .unwrap();
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        let process = run(&program)
            .arg("-D")
            .arg(&copy)
            .args(["-c", "listen_addresses=", "-c", "synchronous_standby_names=", "-k"])
            .arg(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let follows =
            "select exists (select from pg_stat_replication where application_name = $1 and state = 'streaming')";
        while !sqlx::query_scalar::<_, bool>(follows).bind(NAME).fetch_one(&mut db).await.unwrap() {
            assert!(start.elapsed() < START_TIME_MAX, "the standby does not follow");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        db.close().await.unwrap();
        Self { process, folder }
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What one way of committing reaches.
#[derive(Default)]
struct Side {
    transfers: Vec<f64>,
    peer: Vec<f64>,
    reads: Vec<f64>,
}

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let time = settings.time;
    let mut peer = Peer::prepare(server).await;
    let database = server.database("replication").await;
    let standby = Standby::start(server).await;
    let local = Service::new(Host::start_with(&database, &["--durability", "local"])).await;
    require(server, true).await;
    let replicated = Service::of(Host::start_with(&database, &["--durability", "replicated"]), &local);
    say!("{}", Figures::HEAD);
    let mut sides = [Side::default(), Side::default()];
    for _ in 0..TURNS {
        for (waits, service) in [(false, &local), (true, &replicated)] {
            require(server, waits).await;
            let name = if waits { "replicated" } else { "local" };
            let side = &mut sides[usize::from(waits)];
            let now = || Used::now(&[service.host.pid()], server.pid());
            let before = now();
            let figures = peer.run(time).await;
            side.peer.push(figures.per_second());
            say!("{}", figures.line(&format!("pgbench {name}"), &now().since(&before)));
            let before = now();
            let figures = service.run(Spread::Uniform, Until::Time(time)).await;
            side.transfers.push(figures.per_second());
            say!("{}", figures.line(&format!("caudal {name}"), &now().since(&before)));
            side.reads.push(read(service).await);
        }
    }
    let [local_side, replicated_side] = sides.map(|it| (median(it.transfers), median(it.peer), median(it.reads)));
    say!("caudal, replicated / local: {:.2}", replicated_side.0 / local_side.0);
    say!("pgbench, replicated / local: {:.2}", replicated_side.1 / local_side.1);
    say!("an account read, median: local {:.2} ms, replicated {:.2} ms", local_side.2, replicated_side.2);
    replicated.host.stop();
    local.host.stop();
    require(server, false).await;
    drop(standby);
    server.drop(peer.database).await;
    server.drop(database).await;
}

/// Makes commits wait for the standby, or not.
async fn require(server: &Server, waits: bool) {
    let mut db = server.connect().await;
    db.execute(match waits {
        true => "alter system set synchronous_standby_names = 'bench_standby'",
        false => "alter system reset synchronous_standby_names",
    })
    .await
    .unwrap();
    db.execute("select pg_reload_conf()").await.unwrap();
    let is_set = "select (current_setting('synchronous_standby_names') <> '') = $1";
    while !sqlx::query_scalar::<_, bool>(is_set).bind(waits).fetch_one(&mut db).await.unwrap() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    db.close().await.unwrap();
}

/// Median time of a read, in milliseconds.
async fn read(service: &Service) -> f64 {
    let mut client = Client::connect(service.host.address()).await.unwrap();
    let sender = service.sender();
    let path = format!("/api/ledger/accounts/{}", sender.account_id);
    let mut took = Vec::with_capacity(READS);
    for _ in 0..READS {
        let start = Instant::now();
        let (status, answer) = client.send("GET", &path, &sender.authorization, "").await.unwrap();
        assert_eq!(status, 200, "{answer}");
        took.push(start.elapsed());
    }
    Sorted::new(took).at(0.5)
}
