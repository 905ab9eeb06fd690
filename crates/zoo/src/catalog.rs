//! Every character that ships with Sinew, by name: the one list that programs show, open and draw from.

use crate::Beam;
use crate::{arm, beam, cow, cylinder, dancer, dragon, fish, jelly, jelly_torus, penguin, starfish, worm};
use crate::{duck_box, fish_jump, pot, starfish_cage, starfish_turn, worm_roll};
use sinew_flesh::{Law, StretchLimits};
use sinew_take::Scene;

/// A character of the zoo.
#[derive(Clone, Copy, Debug)]
pub struct Character {
    /// Its name: small letters and hyphens.
    pub name: &'static str,
    /// What it shows, in one line.
    pub description: &'static str,
    /// Makes its scene.
    pub build: fn() -> Scene,
    /// The colour it is drawn in: red, green and blue as on a screen (sRGB), each from 0 to 1.
    pub color: [f32; 3],
}

const SAND: [f32; 3] = [0.93, 0.55, 0.35];
const BLUE: [f32; 3] = [0.33, 0.62, 0.88];
const ROSE: [f32; 3] = [0.91, 0.53, 0.58];
const CLAY: [f32; 3] = [0.78, 0.45, 0.32];
const LIME: [f32; 3] = [0.55, 0.80, 0.35];

const CATALOG: &[Character] = &[
    Character {
        name: "dancer",
        description: "a heavy figure dances; belly, arms and thighs follow a little later",
        build: || dancer(8_600, 0.0097),
        color: [0.94, 0.66, 0.53],
    },
    Character {
        name: "starfish",
        description: "five arms wave in turn, bones lead and flesh follows",
        build: || starfish(3_400),
        color: SAND,
    },
    Character {
        name: "starfish-coarse",
        description: "the starfish in a cage of about 200 tets",
        build: || called("starfish-coarse", starfish(200)),
        color: SAND,
    },
    Character {
        name: "starfish-fine",
        description: "the starfish in a cage of about 9,000 tets",
        build: || called("starfish-fine", starfish(9_000)),
        color: SAND,
    },
    Character {
        name: "starfish-very-fine",
        description: "the starfish in a cage of about 37,600 tets",
        build: || called("starfish-very-fine", starfish(37_600)),
        color: SAND,
    },
    Character {
        name: "fish",
        description: "swims on the spot; fins trail behind",
        build: || fish(800),
        color: BLUE,
    },
    Character {
        name: "worm",
        description: "swims by a wave along its back",
        build: || worm(800),
        color: ROSE,
    },
    Character {
        name: "arm",
        description: "bends at the elbow; flesh bulges inside and hangs below",
        build: arm,
        color: [0.90, 0.68, 0.55],
    },
    Character {
        name: "penguin",
        description: "waddles; its belly is behind the beat",
        build: penguin,
        color: [0.36, 0.44, 0.58],
    },
    Character {
        name: "cow",
        description: "shakes her head; ears flap, horns do not",
        build: cow,
        color: [0.80, 0.66, 0.52],
    },
    Character {
        name: "dragon",
        description: "beats its wings, thick flaps of flesh; neck and tail follow",
        build: dragon,
        color: [0.42, 0.68, 0.48],
    },
    Character {
        name: "jelly",
        description: "a pudding on a plate that is shaken",
        build: jelly,
        color: [0.86, 0.25, 0.36],
    },
    Character {
        name: "jelly-torus",
        description: "a ring of jelly, hung up at one side and swung",
        build: jelly_torus,
        color: LIME,
    },
    Character {
        name: "cylinder",
        description: "a column of rubber, held below and twisted, bent and stretched from above",
        build: cylinder,
        color: [0.62, 0.52, 0.84],
    },
    Character {
        name: "worm-roll",
        description: "a worm on the ground rolls along by its joints and friction alone",
        build: worm_roll,
        color: ROSE,
    },
    Character {
        name: "fish-jump",
        description: "a fish on dry land bends, snaps and leaps by its joints alone",
        build: fish_jump,
        color: BLUE,
    },
    Character {
        name: "starfish-turn",
        description: "a starfish leaps and turns in the air by its arms alone",
        build: starfish_turn,
        color: SAND,
    },
    Character {
        name: "starfish-cage",
        description: "a starfish under a glass cage leaps against the lid until it throws it over",
        build: starfish_cage,
        color: SAND,
    },
    Character {
        name: "pot",
        description: "a pot of rubber is thrown down, tips and rocks by friction, and stands",
        build: || pot(0.5),
        color: CLAY,
    },
    Character {
        name: "pot-slippery",
        description: "the same pot on ice: it glides on",
        build: || pot(0.0),
        color: CLAY,
    },
    Character {
        name: "duck-box",
        description: "a soft duck is tossed about in a box that is turned over and over",
        build: duck_box,
        color: [0.96, 0.79, 0.24],
    },
    Character {
        name: "beam",
        description: "the heavy beam that solvers are compared on, held at one end",
        build: beam_to_look_at,
        color: [0.72, 0.72, 0.70],
    },
];

/// Every character, the best known first.
pub fn catalog() -> &'static [Character] {
    CATALOG
}

/// The character of a name.
pub fn find(name: &str) -> Option<&'static Character> {
    CATALOG.iter().find(|character| character.name == name)
}

/// The name that a misspelt one was probably meant to be.
pub fn nearest(name: &str) -> Option<&'static str> {
    let written: String = name.trim().to_lowercase().replace(['_', ' '], "-").chars().take(60).collect();
    let distance = |character: &&Character| strsim::osa_distance(&written, character.name);
    let near = CATALOG.iter().min_by_key(distance)?;
    (distance(&near) <= (near.name.len() / 3).max(1)).then_some(near.name)
}

/// The same scene under another name, which outputs have by default.
fn called(name: &str, scene: Scene) -> Scene {
    Scene { name: name.into(), ..scene }
}

fn beam_to_look_at() -> Scene {
    let law = Law::StVenantKirchhoff(StretchLimits::default());
    Scene { seconds: 3.0, ..beam(Beam { cubes_across: 4, law, damping_ratio: 0.02 }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_misspelt_ones_are_guessed() {
        assert!(
            catalog().iter().all(|character| find(character.name).is_some_and(|c| c.name == character.name))
        );
        assert_eq!(nearest("dacner"), Some("dancer"));
        assert_eq!(nearest("Jelly_Torus"), Some("jelly-torus"));
        assert_eq!(nearest("starfish-very-fin"), Some("starfish-very-fine"));
        assert_eq!(nearest("accordion"), None);
        assert_eq!(nearest(""), None);
    }

    #[test]
    fn names_are_words_and_hyphens_and_differ() {
        for (i, character) in catalog().iter().enumerate() {
            assert!(
                character.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'),
                "{}",
                character.name
            );
            assert!(catalog()[..i].iter().all(|other| other.name != character.name));
            assert!(character.color.iter().all(|c| (0.0..=1.0).contains(c)));
            assert!(!character.description.is_empty() && !character.description.contains('\n'));
        }
    }
}
