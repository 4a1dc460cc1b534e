//! The gateway under a service manager: it says when it is ready, that it is alive, and that it
//! ends (sd_notify(3)).

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use crate::botapi::BotApi;
use crate::program::House;
use rustix::process::Signal;

#[test]
fn the_service_manager_hears_ready_alive_and_ending() {
    let telegram = BotApi::start();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let house = House::new()
        .with_bot(&telegram.token(), telegram.url(), "5")
        .with("NOTIFY_SOCKET", path.to_str().unwrap())
        .with("WATCHDOG_USEC", "100000");
    let gateway = house.start(&["gateway"]);
    let hears = || {
        let mut said = [0; 256];
        let length = manager.recv(&mut said).expect("the service manager hears nothing");
        String::from_utf8_lossy(&said[..length]).trim().to_owned()
    };
    assert_eq!(hears(), "READY=1");
    assert_eq!([hears(), hears()], ["WATCHDOG=1", "WATCHDOG=1"]);
    gateway.signal(Signal::TERM);
    while hears() != "STOPPING=1" {}
    gateway.ends().expect(0);
}
