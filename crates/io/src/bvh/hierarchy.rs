//! Reads the `HIERARCHY` section of a BVH file: nested joints.

use super::tokens::Tokens;
use super::{BvhChannel, BvhJoint};
use crate::text::quote;
use sinew_files::ReadError;
use sinew_math::Vec3;

/// The deepest nesting of joints: far beyond any character, and small enough to reject a file that is nothing but braces.
const MAX_DEPTH: usize = 1000;

/// An open block: a joint or an end site.
struct Block {
    kind: BlockKind,
    line: usize,
    has_offset: bool,
    has_channels: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum BlockKind {
    /// The joint with this index.
    Joint(usize),
    /// An end site of the joint with this index.
    End(usize),
}

/// Reads all joints, up to and including the keyword `MOTION`.
pub(super) fn read(tokens: &mut Tokens, scale: f64) -> Result<Vec<BvhJoint>, ReadError> {
    // the blocks that are open, from the root down
    tokens.expect("HIERARCHY")?;
    let mut joints: Vec<BvhJoint> = Vec::new();
    let mut open: Vec<Block> = Vec::new();
    let mut channel_offset = 0;
    loop {
        let word = tokens.next().ok_or_else(|| missing_motion(&open, &joints, tokens.line()))?;
        let line = tokens.line();
        match (word.to_ascii_uppercase().as_slice(), open.last_mut()) {
            // blocks begin and end
            (b"MOTION", None) => break,
            (b"ROOT", None) => open.push(begin(tokens, None, &mut joints)?),
            (b"JOINT", Some(Block { kind: BlockKind::Joint(parent), .. })) => {
                let parent = *parent;
                if open.len() == MAX_DEPTH {
                    return Err(ReadError::line(line, format!("joints are nested deeper than {MAX_DEPTH}")));
                }
                open.push(begin(tokens, Some(parent), &mut joints)?);
            }
            (b"END", Some(Block { kind: BlockKind::Joint(joint), .. })) => {
                let kind = BlockKind::End(*joint);
                tokens.name();
                tokens.expect("{")?;
                open.push(Block { kind, line, has_offset: false, has_channels: true });
            }
            (b"}", Some(_)) => end(&mut open, &joints, line)?,

            // what a block holds
            (b"OFFSET", Some(block)) => {
                if core::mem::replace(&mut block.has_offset, true) {
                    return Err(ReadError::line(line, "this joint has a second OFFSET: remove one"));
                }
                let offset = read_offset(tokens, scale)?;
                match block.kind {
                    BlockKind::Joint(joint) => joints[joint].offset = offset,
                    BlockKind::End(joint) => joints[joint].ends.push(offset),
                }
            }
            (b"CHANNELS", Some(block @ Block { kind: BlockKind::Joint(_), .. })) => {
                let BlockKind::Joint(joint) = block.kind else { continue };
                if core::mem::replace(&mut block.has_channels, true) {
                    return Err(ReadError::line(line, "this joint has a second CHANNELS: remove one"));
                }
                joints[joint].channel_offset = channel_offset;
                joints[joint].channels = read_channels(tokens)?;
                channel_offset += joints[joint].channels.len();
            }
            _ => return Err(unexpected(word, line, &open)),
        }
    }
    if joints.is_empty() {
        return Err(ReadError::line(tokens.line(), "the file has no joints: there is no ROOT before MOTION"));
    }
    Ok(joints)
}

fn begin(tokens: &mut Tokens, parent: Option<usize>, joints: &mut Vec<BvhJoint>) -> Result<Block, ReadError> {
    let line = tokens.line();
    let name = tokens.name();
    tokens.expect("{")?;
    joints.push(BvhJoint {
        name,
        parent,
        offset: Vec3::zeros(),
        channels: Vec::new(),
        channel_offset: 0,
        ends: Vec::new(),
    });
    Ok(Block { kind: BlockKind::Joint(joints.len() - 1), line, has_offset: false, has_channels: false })
}

fn end(open: &mut Vec<Block>, joints: &[BvhJoint], line: usize) -> Result<(), ReadError> {
    let Some(block) = open.pop() else { return Ok(()) };
    let missing = match block {
        Block { has_offset: false, .. } => "OFFSET x y z",
        Block { has_channels: false, .. } => "CHANNELS: write `CHANNELS 0` for a joint that does not move",
        _ => return Ok(()),
    };
    let name = block_name(&block, joints);
    Err(ReadError::line(line, format!("{name}, which begins in line {}, has no {missing}", block.line)))
}

fn block_name(block: &Block, joints: &[BvhJoint]) -> String {
    match block.kind {
        BlockKind::Joint(joint) => format!("joint '{}'", quote(joints[joint].name.as_bytes())),
        BlockKind::End(joint) => format!("the end site of joint '{}'", quote(joints[joint].name.as_bytes())),
    }
}

fn read_offset(tokens: &mut Tokens, scale: f64) -> Result<Vec3, ReadError> {
    let mut offset = Vec3::zeros();
    for x in offset.iter_mut() {
        *x = tokens.number("an offset")? * scale;
        if !x.is_finite() {
            return Err(ReadError::line(tokens.line(), "an offset is too large"));
        }
    }
    Ok(offset)
}

fn read_channels(tokens: &mut Tokens) -> Result<Vec<BvhChannel>, ReadError> {
    let word = tokens.need("the number of channels")?;
    let count: u32 = crate::text::number(word, tokens.line(), "the number of channels")?;
    let mut channels = Vec::new();
    for _ in 0..count {
        let word = tokens.need("a channel")?;
        let line = tokens.line();
        let channel = channel_of(word).ok_or_else(|| {
            let read = channels.len();
            ReadError::line(line, format!(
                "`{}` is not a channel (Xposition, Yrotation …): the joint states {count} channels but lists {read}",
                quote(word)
            ))
        })?;
        if matches!(channel, BvhChannel::Position(_)) && channels.contains(&channel) {
            return Err(ReadError::line(line, format!("`{}` is given twice for one joint", quote(word))));
        }
        channels.push(channel);
        // positions are at most three; this many rotations mean a wrong count or a damaged file
        if channels.len() > MAX_CHANNELS {
            return Err(ReadError::line(line, format!("a joint has more than {MAX_CHANNELS} channels")));
        }
    }
    Ok(channels)
}

/// The most channels of a joint. Usual are three positions and three rotations; some formats add three scales.
const MAX_CHANNELS: usize = 64;

fn channel_of(word: &[u8]) -> Option<BvhChannel> {
    let word = word.to_ascii_lowercase();
    let (axis, kind) = word.split_first()?;
    let axis = axis.checked_sub(b'x').filter(|axis| *axis < 3)?;
    match kind {
        b"position" => Some(BvhChannel::Position(axis)),
        b"rotation" => Some(BvhChannel::Rotation(axis)),
        _ => None,
    }
}

fn missing_motion(open: &[Block], joints: &[BvhJoint], line: usize) -> ReadError {
    match open.last() {
        Some(block) => {
            let name = block_name(block, joints);
            ReadError::line(
                line,
                format!(
                    "the file ends inside {name}, which begins in line {}: a `}}` is missing",
                    block.line
                ),
            )
        }
        None => ReadError::line(line, "the file ends without MOTION"),
    }
}

fn unexpected(word: &[u8], line: usize, open: &[Block]) -> ReadError {
    let allowed = match open.last() {
        None => "ROOT or MOTION",
        Some(Block { kind: BlockKind::Joint(_), .. }) => "OFFSET, CHANNELS, JOINT, End Site or `}`",
        Some(Block { kind: BlockKind::End(_), .. }) => "OFFSET or `}`",
    };
    ReadError::line(line, format!("expected {allowed}, found `{}`", quote(word)))
}
