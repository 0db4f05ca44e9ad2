//! From which address a client asks, and through whom. Pure.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// Most proxies in front of one another that are believed.
const PROXIES_MAX: usize = 8;

/// Addresses that begin alike, as in `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// Length of what they have in common, in bits.
    prefix: u32,
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (address, prefix) =
                text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
            let address: IpAddr = address.parse().ok()?;
            let bits = if address.is_ipv4() { 32 } else { 128 };
            let prefix = prefix.map_or(Some(bits), |prefix| prefix.parse().ok().filter(|prefix| *prefix <= bits))?;
            Some(Self { address, prefix })
        };
        parse().ok_or_else(|| "is neither an address nor a network such as 10.0.0.0/8".to_owned())
    }
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(32 - self.prefix).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(128 - self.prefix).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// The client's address: the connection's or, if that is a trusted proxy's, the last one in `X-Forwarded-For`
/// that is not. What stands before it was written by the client. `None` if only trusted addresses are known.
///
/// # Errors
/// With the peer's own address, when a proxy appended none.
pub fn origin<'a>(
    peer: IpAddr,
    forwarded: impl DoubleEndedIterator<Item = &'a [u8]>,
    trusted: &[Network],
) -> Result<Option<IpAddr>, IpAddr> {
    let peer = peer.to_canonical();
    if !is_trusted(peer, trusted) {
        return Ok(Some(peer));
    }
    for hop in forwarded.rev().flat_map(|header| header.rsplit(|byte| *byte == b',')).take(PROXIES_MAX) {
        let address = address_in(hop).ok_or(peer)?;
        if !is_trusted(address, trusted) {
            return Ok(Some(address));
        }
    }
    Ok(None)
}

/// With or without a port.
fn address_in(hop: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(hop.trim_ascii()).ok()?;
    let address = text.parse().or_else(|_| text.parse().map(|address: SocketAddr| address.ip()));
    address.ok().map(|address| address.to_canonical())
}

/// Whether it is a trusted proxy's; loopback addresses always are.
fn is_trusted(address: IpAddr, trusted: &[Network]) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || trusted.iter().any(|network| network.contains(address))
}

/// What counts as one client: of IPv6 the 64 bits that a customer of a network gets.
pub fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn networks_contain_what_begins_like_them() {
        for (network, address, want) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "::1", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
        ] {
            assert_eq!(network.parse::<Network>().unwrap().contains(ip(address)), want, "{network} {address}");
        }
        for text in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "example.com", "10.0.0.0/-1"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_trusted_proxies_name_a_client() {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let from = |peer, forwarded: &[&str]| origin(ip(peer), forwarded.iter().map(|it| it.as_bytes()), &trusted);
        let client = |text| Ok(Some(ip(text)));
        assert_eq!(from("203.0.113.9", &["198.51.100.1"]), client("203.0.113.9"));
        assert_eq!(from("10.1.1.1", &["198.51.100.1"]), client("198.51.100.1"));
        // A client may claim anything; what the proxy saw is last.
        assert_eq!(from("10.1.1.1", &["127.0.0.1, 198.51.100.1"]), client("198.51.100.1"));
        assert_eq!(from("10.1.1.1", &["1.1.1.1", "198.51.100.1, 10.2.2.2"]), client("198.51.100.1"));
        assert_eq!(from("::ffff:10.1.1.1", &["::ffff:198.51.100.1"]), client("198.51.100.1"));
        assert_eq!(from("127.0.0.1", &[]), Ok(None));
        assert_eq!(from("10.1.1.1", &["198.51.100.1, unknown"]), Err(ip("10.1.1.1")));
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        assert_eq!(client(ip("2001:db8::1")), client(ip("2001:db8::ffff:1")));
        assert_ne!(client(ip("2001:db8::1")), client(ip("2001:db8:0:1::1")));
        assert_eq!(client(ip("::ffff:192.0.2.1")), ip("192.0.2.1"));
    }
}
