//! What scenes and characters have when nothing else is given.

use sinew_sim::desc::{CoreDesc, Sag};

pub use sinew_take::EARTH_GRAVITY;
/// The length of a take without a motion (s).
pub const DEFAULT_SECONDS: f64 = 5.0;
/// Frames per second.
pub const DEFAULT_FPS: f64 = 60.0;
/// Tets of a cage: enough for a body to bend smoothly, few enough to simulate at once.
pub const DEFAULT_TETS: usize = 8000;
/// Muscle under fat: limbs, which are thin, are stiff throughout, a belly is soft outside.
pub const DEFAULT_CORE: CoreDesc = CoreDesc { stiffness: 8.0, reach: 0.6 };
/// Characters are drawn under their own weight.
pub const DEFAULT_SAG: Sag = Sag::RestShape;
/// The cutoff frequency of the low-pass filter on captured motion (Hz): people move slower, markers shake faster.
pub const DEFAULT_SMOOTHING: f64 = 8.0;
