//! The unit of a BVH file, which it does not say: the one in which the figure's legs are as long as people's.

use super::{Bvh, BvhBody, BvhChannel, BvhOptions, CMU_METRES, read_bvh};
use sinew_control::{BoneMap, HumanBone};
use sinew_files::{Loaded, ReadError};
use sinew_math::{Vec3, real};
use sinew_skeleton::Skeleton;

/// Units that files are written in (m), with their names.
const UNITS: [(f64, &str); 5] = [
    (1.0, "metres"),
    (CMU_METRES, "units of the Carnegie Mellon library"),
    (0.0254, "inches"),
    (0.01, "centimetres"),
    (0.001, "millimetres"),
];
/// Hip to ankle of an adult (m): half of 1.72 m, as in tables of body segments.
const LEG: f64 = 0.86;
/// How far the joints of an adult reach along the longest axis (m), hands outstretched or not; for figures without legs that are known.
const REACH: f64 = 1.7;

/// Reads a BVH file whose unit is so many metres; without one, the unit is found by the length of the figure's legs, and a note says which.
pub fn read_bvh_in(bytes: &[u8], metres_per_unit: Option<f64>) -> Result<Loaded<Bvh>, ReadError> {
    if let Some(metres_per_unit) = metres_per_unit {
        return read_bvh(bytes, &BvhOptions { metres_per_unit, ..BvhOptions::default() });
    }
    let Loaded { value: mut bvh, mut notes } = read_bvh(bytes, &BvhOptions::default())?;
    let (metres, note) = bvh.find_unit();
    bvh.scale(metres);
    notes.push(note);
    Ok(Loaded { value: bvh, notes })
}

impl Bvh {
    /// The likeliest unit (m) of a file that was read in its own unit, and the reason.
    fn find_unit(&self) -> (f64, String) {
        let (length, wanted, what) = match self.leg_length() {
            Some(length) => (length, LEG, "its legs are"),
            None => (self.reach(), REACH, "it reaches over"),
        };
        // the factor to the wanted length, whichever is longer
        let misfit = |unit: f64| real::ln(length * unit / wanted).abs();
        let nearest = UNITS.into_iter().min_by(|a, b| misfit(a.0).total_cmp(&misfit(b.0)));
        let (metres, name) = nearest.filter(|_| length > 0.0 && length.is_finite()).unwrap_or(UNITS[0]);
        let note = format!(
            "the motion is taken to be in {name} ({metres:.4} m): {what} {length:.3} long in its unit, {:.2} m; \
             say otherwise with --motion-scale, or `unit` in a scene",
            length * metres
        );
        (metres, note)
    }

    /// The mean distance from hip over knee to ankle, in the file's unit; `None` if no leg is known by its names.
    fn leg_length(&self) -> Option<f64> {
        let skeleton = Skeleton::build(&self.to_skeleton(&BvhBody::default()).with_plain_masses()).ok()?;
        let bones = BoneMap::find_in(&skeleton);
        let offset = |bone: HumanBone| {
            let index = bones.get(bone)?;
            let place = skeleton.desc_of_bone(sinew_skeleton::BoneId(index as u32));
            Some(self.joints[place].offset.norm())
        };
        use HumanBone::{LeftFoot, LeftLowerLeg, RightFoot, RightLowerLeg};
        let leg = |knee: HumanBone, ankle: HumanBone| Some(offset(knee)? + offset(ankle)?);
        let legs = [leg(LeftLowerLeg, LeftFoot), leg(RightLowerLeg, RightFoot)];
        let known: Vec<f64> = legs.into_iter().flatten().filter(|length| *length > 0.0).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    /// The longest side of the box around all joints and ends at rest.
    fn reach(&self) -> f64 {
        let mut places: Vec<Vec3> = Vec::with_capacity(self.joints.len());
        let (mut low, mut high) = (Vec3::zeros(), Vec3::zeros());
        for joint in &self.joints {
            // from the root, wherever it stands
            let place = joint.parent.map_or(Vec3::zeros(), |parent| places[parent] + joint.offset);
            for point in joint.ends.iter().map(|end| place + end).chain([place]) {
                (low, high) = (low.inf(&point), high.sup(&point));
            }
            places.push(place);
        }
        (high - low).max()
    }

    /// Multiplies all lengths.
    fn scale(&mut self, factor: f64) {
        for joint in &mut self.joints {
            joint.offset *= factor;
            joint.ends.iter_mut().for_each(|end| *end *= factor);
        }
        let channels: Vec<BvhChannel> = self.joints.iter().flat_map(|joint| joint.channels.clone()).collect();
        for frame in self.frames.chunks_exact_mut(self.channel_count.max(1)) {
            let lengths =
                frame.iter_mut().zip(&channels).filter(|(_, kind)| matches!(kind, BvhChannel::Position(_)));
            lengths.for_each(|(length, _)| *length *= factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hips with two legs of thigh and shank, in a unit of so many metres, that move by one such unit.
    fn figure(unit: f64, names: [&str; 3]) -> String {
        let at = |metres: f64| metres / unit;
        let joint = |side: &str| {
            let [up, low, foot] = names.map(|name| format!("{side}{name}"));
            format!(
                "JOINT {up}\n{{\nOFFSET 0.1 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n\
                 JOINT {low}\n{{\nOFFSET 0 {} 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n\
                 JOINT {foot}\n{{\nOFFSET 0 {} 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n\
                 End Site\n{{\nOFFSET 0 0 {}\n}}\n}}\n}}\n}}\n",
                at(-0.45),
                at(-0.42),
                at(0.1)
            )
        };
        let head = format!(
            "JOINT Head\n{{\nOFFSET 0 {} 0\nCHANNELS 0\nEnd Site\n{{\nOFFSET 0 {} 0\n}}\n}}\n",
            at(0.6),
            at(0.2)
        );
        let (legs, hips, zeros) = ([joint("Left"), joint("Right")].concat(), at(0.95), " 0".repeat(18));
        format!(
            "HIERARCHY\nROOT Hips\n{{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n{legs}{head}}}\n\
             MOTION\nFrames: 1\nFrame Time: 0.01\n0 {hips} 0{zeros}\n"
        )
    }

    #[test]
    fn the_unit_is_that_in_which_legs_are_as_long_as_legs() {
        for (unit, word) in UNITS {
            let text = figure(unit, ["UpLeg", "Leg", "Foot"]);
            let read = read_bvh_in(text.as_bytes(), None).unwrap();
            let knee = read.value.joints.iter().find(|joint| joint.name == "LeftLeg").unwrap();
            assert!((knee.offset.y + 0.45).abs() < 1e-9, "{word}: {}", knee.offset);
            // the height of the hips is a length, too
            assert!((read.value.frames[1] - 0.95).abs() < 1e-9);
            assert!(read.notes.iter().any(|note| note.contains(word)), "{:?}", read.notes);
        }
    }

    #[test]
    fn a_figure_without_known_legs_is_measured_as_a_whole() {
        // 1.67 m from the feet to the end of the head
        for (unit, _) in [UNITS[0], UNITS[3]] {
            let read = read_bvh_in(figure(unit, ["a", "b", "c"]).as_bytes(), None).unwrap();
            assert!((read.value.frames[1] - 0.95).abs() < 1e-9, "{unit}");
        }
    }

    #[test]
    fn a_unit_that_is_given_holds() {
        let read = read_bvh_in(figure(1.0, ["UpLeg", "Leg", "Foot"]).as_bytes(), Some(0.5)).unwrap();
        assert!((read.value.frames[1] - 0.475).abs() < 1e-12);
    }
}
