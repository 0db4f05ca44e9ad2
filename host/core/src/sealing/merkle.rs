//! A Merkle tree over digests, shaped as in RFC 6962: a path of a few hashes proves that something is in it.
//!
//! Leaves are [`Digest`](super::digest::Digest)s, whose input begins with a length and thus with a zero. That of a node
//! begins with a one, so neither passes for the other.

use sha2::{Digest as _, Sha256};

use super::digest::Hash;

/// First byte of a node's input.
const NODE: [u8; 1] = [1];

fn node(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update(NODE).chain_update(left).chain_update(right).finalize().into()
}

/// Replaces a row of the tree by the row above it. The last digest of an odd number goes up alone.
fn rise(row: &mut Vec<Hash>) {
    *row = row
        .chunks(2)
        .map(|pair| match pair {
            [left, right] => node(left, right),
            rest => rest[0],
        })
        .collect();
}

/// The digest of the empty text if there are no leaves.
pub(crate) fn root(leaves: &[Hash]) -> Hash {
    let mut row = leaves.to_vec();
    while row.len() > 1 {
        rise(&mut row);
    }
    row.first().copied().unwrap_or_else(|| Sha256::digest(b"").into())
}

/// What the leaf at a place is combined with on its way to the root.
pub(crate) fn path(leaves: &[Hash], mut place: usize) -> Vec<Hash> {
    let (mut row, mut path) = (leaves.to_vec(), Vec::new());
    while row.len() > 1 {
        path.extend(row.get(place ^ 1));
        rise(&mut row);
        place /= 2;
    }
    path
}

/// The root above a leaf at a place among so many, by the next hashes of a path. `None` if there are too few.
pub(crate) fn climb(
    leaf: Hash,
    (mut place, mut length): (usize, usize),
    path: &mut impl Iterator<Item = Hash>,
) -> Option<Hash> {
    if place >= length {
        return None;
    }
    let mut hash = leaf;
    while length > 1 {
        if place ^ 1 < length {
            let sibling = path.next()?;
            hash = if place % 2 == 0 { node(&hash, &sibling) } else { node(&sibling, &hash) };
        }
        (place, length) = (place / 2, length.div_ceil(2));
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn leaves(length: usize) -> Vec<Hash> {
        (0..length).map(|number| Sha256::digest(number.to_be_bytes()).into()).collect()
    }

    #[test]
    fn small_trees_have_the_shape_of_rfc_6962() {
        let [a, b, c] = [0, 1, 2].map(|place| leaves(3)[place]);
        assert_eq!(hex::encode(root(&[])), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(root(&[a]), a);
        assert_eq!(root(&[a, b, c]), node(&node(&a, &b), &c));
        assert_ne!(root(&[a, b]), root(&[b, a]));
    }

    proptest! {
        #[test]
        fn a_path_leads_from_its_leaf_alone_to_the_root(length in 1..200_usize, place: usize, other: usize, bit in 0..256_usize) {
            let (leaves, place, other) = (leaves(length), place % length, other % length);
            let (root, path) = (root(&leaves), path(&leaves, place));
            let reached = |leaf, place, path: &[Hash]| climb(leaf, (place, length), &mut path.iter().copied());
            prop_assert_eq!(reached(leaves[place], place, &path), Some(root));
            prop_assert!(path.len() <= 8);
            if other != place {
                prop_assert_ne!(reached(leaves[other], place, &path), Some(root));
                prop_assert_ne!(reached(leaves[place], other, &path), Some(root));
            }
            let mut altered = leaves[place];
            altered[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(reached(altered, place, &path), Some(root));
            prop_assert_eq!(reached(leaves[place], length, &path), None);
            if let Some((_, shorter)) = path.split_last() {
                prop_assert_eq!(reached(leaves[place], place, shorter), None);
            }
        }
    }
}
