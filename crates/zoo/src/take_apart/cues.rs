//! Who leads, and when joints change hands.

use super::words::{list, number, text};
use sinew_control::{BoneSelection, Cue, CueDrive, Performance};
use sinew_skeleton::{BoneId, Skeleton};

/// Writes the cues of a skeleton, the names of whose bones are the file's.
pub(super) fn write(performance: Option<&Performance>, skeleton: &Skeleton) -> Result<String, String> {
    let mut page = String::new();
    for cue in performance.iter().flat_map(|performance| &performance.cues) {
        page += &write_cue(cue, skeleton)?;
    }
    Ok(page)
}

fn write_cue(cue: &Cue, skeleton: &Skeleton) -> Result<String, String> {
    if cue.time < 0.0 {
        return Err(format!(
            "a cue comes at {} s, before the start, which a scene file cannot say",
            cue.time
        ));
    }
    let bones: Vec<BoneId> = match &cue.bones {
        BoneSelection::All => Vec::new(),
        BoneSelection::Roots => (0..skeleton.bones().len() as u32)
            .map(BoneId)
            .filter(|bone| skeleton.bone(*bone).parent.is_none())
            .collect(),
        BoneSelection::These(bones) => bones.clone(),
    };
    let mut page = format!("[[character.cue]]\ntime = {}\n", number(cue.time));
    if cue.bones != BoneSelection::All {
        let names: Vec<String> = bones.iter().map(|bone| text(&skeleton.bone(*bone).name)).collect();
        page += &format!("bones = [{}]\n", names.join(", "));
    }
    page += &match &cue.drive {
        CueDrive::Motion => "drive = \"motion\"\n".to_owned(),
        CueDrive::Limp => "drive = \"limp\"\n".to_owned(),
        CueDrive::Torque(values) => match bones[..] {
            [bone] if skeleton.bone(bone).joint.v_count == values.len() => {
                format!("torque = {}\n", list(values))
            }
            _ => return Err("a cue asks for a torque on several bones, or for one that is too short, which a scene file cannot say".into()),
        },
    };
    Ok(page)
}
