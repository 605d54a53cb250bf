//! A listing as a tree of the parts of names: how a model is built.

use std::collections::BTreeMap;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;
use weightview::Dtype;

use crate::escape;
use crate::listing::{Listing, Total};
use crate::table;

/// A part of names, and what stands below it.
#[derive(Default)]
struct Node {
    total: Total,
    /// The tensor of that very name.
    leaf: Option<(Dtype, Vec<u64>)>,
    children: BTreeMap<Part, Node>,
}

/// A part of a name: numbers are in the order of numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Text(String),
}

impl Part {
    /// As it is spelt; `007` and other spellings of numbers that would not come back are text.
    fn new(text: &str) -> Self {
        match text.parse::<u64>() {
            Ok(number) if number.to_string() == text => Self::Number(number),
            _ => Self::Text(text.into()),
        }
    }
}

/// Prints the tree, and the total below it.
pub(crate) fn write(listing: &Listing<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut root = Node::default();
    for row in listing.rows() {
        let mut node = &mut root;
        let bytes = u128::from(row.end - row.begin);
        let parameters: u128 = row.shape.iter().map(|&dim| u128::from(dim)).product();
        // Names are as long as headers allow; each part is a level, so no more of them than people can read.
        let name = row.name.to_cow();
        for part in name.splitn(MOST_LEVELS, ['.', '/']) {
            node = node.children.entry(Part::new(part)).or_default();
            node.total.tensors += 1;
            node.total.parameters += parameters;
            node.total.bytes += bytes;
        }
        node.leaf = Some((row.dtype, row.shape.to_vec()));
    }
    let mut lines = Vec::new();
    root.lines(0, &mut lines);
    let name = lines.iter().map(|line| line.name.width()).max().unwrap_or(0).max("Part".len());
    let width = |of: fn(&Line) -> &String, heading: &str| {
        lines.iter().map(|line| of(line).len()).max().unwrap_or(0).max(heading.len())
    };
    let (tensors, parameters) = (width(|line| &line.tensors, "Tensors"), width(|line| &line.parameters, "Parameters"));
    let bytes = width(|line| &line.bytes, "Bytes");
    let mut print = |line: &[&str; 5]| {
        let [part, count, params, size, note] = line;
        let space = " ".repeat(name.saturating_sub(part.width()));
        let text = format!("{part}{space}  {count:>tensors$}  {params:>parameters$}  {size:>bytes$}  {note}");
        writeln!(out, "{}", text.trim_end())
    };
    print(&["Part", "Tensors", "Parameters", "Bytes", ""])?;
    print(&[&"-".repeat(name), &"-".repeat(tensors), &"-".repeat(parameters), &"-".repeat(bytes), ""])?;
    for line in &lines {
        print(&[&line.name, &line.tensors, &line.parameters, &line.bytes, &line.note])?;
    }
    writeln!(out, "{}", table::total(listing.total))
}

/// Levels that are told apart.
const MOST_LEVELS: usize = 64;

struct Line {
    name: String,
    tensors: String,
    parameters: String,
    bytes: String,
    /// Dtype and shape of a tensor.
    note: String,
}

impl Node {
    /// The lines of what stands below, at most [`MOST_LEVELS`] deep.
    fn lines(&self, level: usize, lines: &mut Vec<Line>) {
        let mut children = self.children.iter().peekable();
        while let Some((part, child)) = children.next() {
            let (mut last, mut total) = (part, child.total);
            // Neighbours in number that hold the same are one line.
            if let Part::Number(first) = *part {
                let mut next = first;
                while let Some((Part::Number(number), other)) = children.peek().copied()
                    && Some(*number) == next.checked_add(1)
                    && other.is_like(child)
                {
                    next = *number;
                    total.tensors += other.total.tensors;
                    total.parameters += other.total.parameters;
                    total.bytes += other.total.bytes;
                    if let Some((part, _)) = children.next() {
                        last = part;
                    }
                }
            }
            let name = match (part, last) {
                (Part::Number(first), Part::Number(last)) if first != last => format!("{{{first}..{last}}}"),
                (Part::Number(number), _) => number.to_string(),
                (Part::Text(text), _) => escape::str(text).into_owned(),
            };
            let note = child.leaf.as_ref().map(|(dtype, shape)| format!("{dtype} {shape:?}")).unwrap_or_default();
            lines.push(Line {
                name: format!("{}{name}", "  ".repeat(level)),
                tensors: total.tensors.to_string(),
                parameters: total.parameters.to_string(),
                bytes: total.bytes.to_string(),
                note,
            });
            child.lines(level + 1, lines);
        }
    }

    /// Whether both hold tensors of the same names, dtypes and shapes.
    fn is_like(&self, other: &Self) -> bool {
        self.leaf == other.leaf
            && self.children.len() == other.children.len()
            && self
                .children
                .iter()
                .zip(&other.children)
                .all(|((a, below_a), (b, below_b))| a == b && below_a.is_like(below_b))
    }
}

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn numbers_are_told_from_what_only_looks_like_them() {
        assert_eq!(Part::new("12"), Part::Number(12));
        for text in ["007", "", "+1", "-1", "1a", "18446744073709551616"] {
            assert_eq!(Part::new(text), Part::Text(text.into()));
        }
        assert!(Part::new("2") < Part::new("10") && Part::new("10") < Part::new("a"));
    }
}
