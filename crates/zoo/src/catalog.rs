//! The catalog of built-in characters.

use crate::Beam;
use crate::{
    arm, arm_skin, beam, cloth, cloth_ball, cloth_fold, cloth_stretch, cow, cylinder, dancer, dragon, fish,
    jelly, jelly_torus, muscle_arm, penguin, penguin_skin, rabbit_flap, rabbit_twist, starfish, worm,
};
use crate::{
    dancer_stairs, duck_box, fish_jump, penguins, pile, pot, starfish_cage, starfish_turn, worm_roll,
};
use crate::{fish_directed, starfish_directed, worm_directed};
use sinew_flesh::{Law, StretchLimits};
use sinew_take::Scene;

/// A character of the zoo.
#[derive(Clone, Copy, Debug)]
pub struct Character {
    /// Its name: lower-case letters and hyphens.
    pub name: &'static str,
    /// A description in one line.
    pub description: &'static str,
    /// Builds its scene.
    pub build: fn() -> Scene,
    /// Its colour in pictures: red, green and blue (sRGB), each from 0 to 1.
    pub color: [f32; 3],
}

/// The spacing of vertices of a likeness (m): a tenth as many as the dancer has, and fingers that are still there.
const LIKENESS_SPACING: f64 = 0.03;

const SAND: [f32; 3] = [0.93, 0.55, 0.35];
const BLUE: [f32; 3] = [0.33, 0.62, 0.88];
const ROSE: [f32; 3] = [0.91, 0.53, 0.58];
const CLAY: [f32; 3] = [0.78, 0.45, 0.32];
const LIME: [f32; 3] = [0.55, 0.80, 0.35];

const CATALOG: &[Character] = &[
    Character {
        name: "dancer",
        description: "a heavy dancer; belly, arms and thighs follow slightly later than the bones",
        build: || dancer(8_600, 0.0097),
        color: [0.94, 0.66, 0.53],
    },
    Character {
        name: "starfish",
        description: "five arms wave in turn; the bones are animated, the flesh follows",
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
        description: "swims in place; the fins trail behind",
        build: || fish(800),
        color: BLUE,
    },
    Character {
        name: "worm",
        description: "swims by a wave along its body",
        build: || worm(800),
        color: ROSE,
    },
    Character {
        name: "arm",
        description: "bends at the elbow; the flesh bulges on the inside and sags below",
        build: arm,
        color: [0.90, 0.68, 0.55],
    },
    Character {
        name: "muscle-arm",
        description: "biceps, triceps and a muscle of the forearm move a limp elbow; they bulge",
        build: muscle_arm,
        color: [0.88, 0.62, 0.50],
    },
    Character {
        name: "penguin",
        description: "waddles; the belly lags behind",
        build: penguin,
        color: [0.36, 0.44, 0.58],
    },
    Character {
        name: "cow",
        description: "shakes her head; the ears flap, the horns are stiff",
        build: cow,
        color: [0.80, 0.66, 0.52],
    },
    Character {
        name: "dragon",
        description: "flaps its wings, thick sheets of flesh; neck and tail follow",
        build: dragon,
        color: [0.42, 0.68, 0.48],
    },
    Character {
        name: "jelly",
        description: "a jelly pudding on a shaking plate",
        build: jelly,
        color: [0.86, 0.25, 0.36],
    },
    Character {
        name: "jelly-torus",
        description: "a jelly ring, pinned at the top and shaken",
        build: jelly_torus,
        color: LIME,
    },
    Character {
        name: "cylinder",
        description: "a rubber column, fixed at the bottom, twisted, bent and stretched from the top",
        build: cylinder,
        color: [0.62, 0.52, 0.84],
    },
    Character {
        name: "worm-roll",
        description: "a worm on the ground rolls sideways by its joints and friction alone",
        build: worm_roll,
        color: ROSE,
    },
    Character {
        name: "fish-jump",
        description: "a fish on land bends, snaps and leaps by its joints alone",
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
        description: "a starfish under a glass cage leaps against the lid until the cage overturns",
        build: starfish_cage,
        color: SAND,
    },
    Character {
        name: "fish-directed",
        description: "a fish is bent by direct control, snaps by key poses, leaps and falls limp",
        build: fish_directed,
        color: BLUE,
    },
    Character {
        name: "worm-directed",
        description: "one end of a worm is lifted by direct control, then key poses bend it into a ring that rolls away",
        build: worm_directed,
        color: ROSE,
    },
    Character {
        name: "starfish-directed",
        description: "a starfish is told to leap and turn by direct control of its centre, and falls limp",
        build: starfish_directed,
        color: SAND,
    },
    Character {
        name: "pot",
        description: "a rubber pot is thrown, turns over by friction, and comes to stand on its rim",
        build: || pot(0.5),
        color: CLAY,
    },
    Character {
        name: "pot-slippery",
        description: "the same pot without friction: it slides on",
        build: || pot(0.0),
        color: CLAY,
    },
    Character {
        name: "duck-box",
        description: "a soft duck tumbles in a rotating box",
        build: duck_box,
        color: [0.96, 0.79, 0.24],
    },
    Character {
        name: "dancer-stairs",
        description: "the dancer goes limp at the top of a staircase and falls down it",
        build: dancer_stairs,
        color: [0.94, 0.66, 0.53],
    },
    Character {
        name: "pile",
        description: "ten soft creatures fall into a bowl and come to lie on each other",
        build: pile,
        color: SAND,
    },
    Character {
        name: "penguins",
        description: "two penguins slide down the banks of an icy valley into each other",
        build: penguins,
        color: [0.36, 0.42, 0.5],
    },
    Character {
        name: "penguin-skin",
        description: "the penguin as loose skin over muscles, a grid of 32 by 32 points",
        build: penguin_skin,
        color: [0.36, 0.44, 0.58],
    },
    Character {
        name: "arm-skin",
        description: "an arm whose biceps swells as it bends; its skin slides over the muscles",
        build: arm_skin,
        color: [0.90, 0.68, 0.55],
    },
    Character {
        name: "cloth",
        description: "a cotton sheet, held by two corners, falls and swings",
        build: cloth,
        color: [0.85, 0.33, 0.30],
    },
    Character {
        name: "cloth-ball",
        description: "a silk sheet falls on a ball and drapes over it",
        build: cloth_ball,
        color: [0.36, 0.50, 0.85],
    },
    Character {
        name: "cloth-stretch",
        description: "a cotton sheet between two edges is stretched across by a control metaphor",
        build: cloth_stretch,
        color: [0.85, 0.33, 0.30],
    },
    Character {
        name: "cloth-fold",
        description: "the same metaphor with a magnitude below zero folds the sheet",
        build: cloth_fold,
        color: [0.85, 0.33, 0.30],
    },
    Character {
        name: "rabbit-twist",
        description: "an ear of a sitting rabbit is twisted by a control metaphor, and let go",
        build: rabbit_twist,
        color: [0.80, 0.72, 0.62],
    },
    Character {
        name: "rabbit-flap",
        description: "a twist turns the head of a sitting rabbit from side to side, and a second edit flaps its ear down beside it",
        build: rabbit_flap,
        color: [0.80, 0.72, 0.62],
    },
    Character {
        name: "beam",
        description: "a cantilever beam under gravity, the benchmark for solvers",
        build: damped_beam,
        color: [0.72, 0.72, 0.70],
    },
];

/// All characters, the best known first.
pub fn catalog() -> &'static [Character] {
    CATALOG
}

/// The character with a name.
pub fn find(name: &str) -> Option<&'static Character> {
    CATALOG.iter().find(|character| character.name == name)
}

/// A coarse likeness of a character whose surface takes long to build, to be seen meanwhile; none if it is there soon.
pub fn likeness(name: &str) -> Option<Scene> {
    (name == "dancer").then(|| dancer(8_600, LIKENESS_SPACING))
}

/// The nearest name to a misspelt one, if any is near.
pub fn nearest(name: &str) -> Option<&'static str> {
    let written: String = name.trim().to_lowercase().replace(['_', ' '], "-").chars().take(60).collect();
    let distance = |character: &&Character| strsim::osa_distance(&written, character.name);
    let near = CATALOG.iter().min_by_key(distance)?;
    (distance(&near) <= (near.name.len() / 3).max(1)).then_some(near.name)
}

/// Renames a scene; outputs use its name by default.
fn called(name: &str, scene: Scene) -> Scene {
    Scene { name: name.into(), ..scene }
}

fn damped_beam() -> Scene {
    let law = Law::StVenantKirchhoff(StretchLimits::default());
    Scene { seconds: 3.0, ..beam(Beam { cubes_across: 4, law, damping_ratio: 0.02 }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_sim::desc::ShapeDesc;

    #[test]
    fn characters_are_found_by_exact_and_misspelt_names() {
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
    fn a_likeness_has_the_size_of_its_character_and_few_of_its_vertices() {
        let surface = |scene: Scene| match scene.world.bodies[0].shape.clone() {
            ShapeDesc::Surface { surface, .. } => surface,
            other => panic!("no surface: {other:?}"),
        };
        let character = surface((find("dancer").unwrap().build)());
        let likeness = surface(likeness("dancer").unwrap());
        let ([low, high], [own_low, own_high]) = [&likeness, &character]
            .map(|surface| surface.bounds().map(|(low, high)| [low, high]).unwrap())
            .into();
        // both are at zeros of the same field, at points a spacing apart
        assert!((low - own_low).amax() < LIKENESS_SPACING && (high - own_high).amax() < LIKENESS_SPACING);
        assert!(8 * likeness.vertices.len() < character.vertices.len());
        assert!(super::likeness("penguin").is_none());
    }

    #[test]
    fn names_are_unique_and_entries_are_valid() {
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
