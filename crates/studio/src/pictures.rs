//! Draws the viewports in a thread of their own, so that the interface waits neither for physics nor for pictures.

use crate::session::{Document, Session, Shared, TakeReader, in_own_pool};
use crate::view_painter::ViewScene;
use sinew_io::SceneSurfaces;
use sinew_math::Vec3;
use sinew_render::{
    Image, LiveOptions, LiveTopology, LiveView, Look, OrbitCamera, Overlays, RenderFrame, Scalar,
};
use sinew_sim::State;
use sinew_take::{Frame, SurfaceInfo, Up};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What one viewport shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewRequest {
    /// Which viewport it is.
    pub slot: usize,
    /// From where.
    pub camera: OrbitCamera,
    /// How large (pixels).
    pub size: [usize; 2],
    /// Whether surfaces are shown under plain skinning.
    pub skinned: bool,
}

/// What is to be drawn.
#[derive(Clone)]
pub struct PictureRequest {
    pub(crate) shared: Arc<Shared>,
    pub(crate) document: Arc<Document>,
    /// The revision of the take that the frame is of.
    pub revision: u64,
    /// The frame.
    pub frame: usize,
    /// What is drawn on and in the surfaces.
    pub overlays: Overlays,
    /// The strain or softness at the end of the scale.
    pub scale: f64,
    /// The viewports.
    pub views: Vec<ViewRequest>,
    /// Frames to come, the latest first.
    pub ghosts: Vec<Arc<Frame>>,
    /// Whether pixels are drawn here; otherwise a graphics card draws them from a [`ViewScene`].
    pub draws: bool,
    /// Whether another frame or camera is likely to follow at once.
    pub is_draft: bool,
    /// Softness that is being painted, one number per vertex of each body, in place of that of the scene.
    pub painted: Option<Arc<Vec<Vec<f32>>>>,
}

impl PictureRequest {
    fn is_like(&self, other: &PictureRequest) -> bool {
        Arc::ptr_eq(&self.document, &other.document)
            && self.overlays == other.overlays
            && self.painted.is_some() == other.painted.is_some()
            && self.draws == other.draws
    }

    /// Whether both ask for the same pictures.
    fn is_same(&self, other: &PictureRequest) -> bool {
        let same_ghosts = self.ghosts.len() == other.ghosts.len()
            && self.ghosts.iter().zip(&other.ghosts).all(|(a, b)| Arc::ptr_eq(a, b));
        self.is_like(other)
            && (self.revision, self.frame) == (other.revision, other.frame)
            && self.views == other.views
            && self.is_draft == other.is_draft
            && self.scale == other.scale
            && same_ghosts
            && match (&self.painted, &other.painted) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (a, b) => a.is_none() && b.is_none(),
            }
    }
}

/// A picture of a viewport.
#[derive(Clone)]
pub struct Picture {
    /// Its pixels.
    pub image: Arc<Image>,
    /// The camera that it was drawn with.
    pub camera: OrbitCamera,
    /// Counts pictures, so that each is uploaded once.
    pub serial: u64,
}

/// What was drawn last.
#[derive(Clone, Default)]
pub struct Shown {
    /// The frame.
    pub frame: usize,
    /// The revision of the take that it is of.
    pub revision: u64,
    /// The scene that it is of.
    pub document: Option<Arc<Document>>,
    /// The surfaces of bodies and the bones of that frame, to pick things from.
    pub surfaces: Arc<Frame>,
    /// Its state.
    pub state: Arc<State>,
    /// The pictures of the viewports.
    pub pictures: [Option<Picture>; 4],
    /// What a graphics card draws in place of pictures.
    pub scene: Option<Arc<ViewScene>>,
    /// The painted softness that the pictures show.
    pub painted: Option<Arc<Vec<Vec<f32>>>>,
    /// Whether the pictures are drafts, which better ones follow if there is time.
    pub is_draft: bool,
    /// Why overlays could not be drawn.
    pub error: Option<String>,
    /// How long the last pictures took (ms).
    pub draw_ms: f64,
}

/// The thread that draws.
pub struct Pictures {
    shared: Arc<Exchange>,
    last: Option<PictureRequest>,
}

/// What a window and the thread hand to each other.
struct Exchange {
    wanted: Mutex<Wanted>,
    arrived: Condvar,
    shown: Mutex<Shown>,
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Wanted {
    request: Option<PictureRequest>,
    is_over: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pictures {
    /// Starts the thread. `wake` is called from it whenever there are new pictures.
    pub fn start(wake: impl Fn() + Send + Sync + 'static) -> std::io::Result<Pictures> {
        let shared = Arc::new(Exchange {
            wanted: Mutex::default(),
            arrived: Condvar::new(),
            shown: Mutex::default(),
            wake: Box::new(wake),
        });
        let own = shared.clone();
        std::thread::Builder::new()
            .name("pictures".into())
            .spawn(move || in_own_pool("pictures", true, || own.run()))?;
        Ok(Pictures { shared, last: None })
    }

    /// Asks for pictures; a request that was not begun yet is forgotten. Asking for the same again does nothing.
    pub fn ask(&mut self, request: PictureRequest) {
        if self.last.as_ref().is_some_and(|last| last.is_same(&request)) {
            return;
        }
        self.last = Some(request.clone());
        lock(&self.shared.wanted).request = Some(request);
        self.shared.arrived.notify_one();
    }

    /// The last pictures.
    pub fn shown(&self) -> Shown {
        lock(&self.shared.shown).clone()
    }

    /// Forgets all pictures, as another scene is opened.
    pub fn clear(&mut self) {
        self.last = None;
        *lock(&self.shared.shown) = Shown::default();
    }

    /// A request for a session, without viewports.
    pub fn request(session: &Session, document: Arc<Document>) -> PictureRequest {
        PictureRequest {
            shared: session.shared(),
            document,
            revision: 0,
            frame: 0,
            overlays: Overlays::default(),
            scale: 0.5,
            views: Vec::new(),
            ghosts: Vec::new(),
            draws: true,
            is_draft: false,
            painted: None,
        }
    }
}

impl Drop for Pictures {
    fn drop(&mut self) {
        lock(&self.shared.wanted).is_over = true;
        self.shared.arrived.notify_one();
    }
}

impl Exchange {
    /// The next request; `None` at the end.
    fn next(&self) -> Option<PictureRequest> {
        let mut wanted = lock(&self.wanted);
        loop {
            if wanted.is_over {
                return None;
            }
            if let Some(request) = wanted.request.take() {
                return Some(request);
            }
            wanted = self.arrived.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn run(&self) {
        let mut serial = 0;
        let mut next = self.next();
        while let Some(request) = next {
            next = self.draw_scene(request, &mut serial);
        }
    }

    /// Draws requests of one scene with the same overlays, and returns the first other one.
    fn draw_scene(&self, first: PictureRequest, serial: &mut u64) -> Option<PictureRequest> {
        // what is drawn of it; overlays that the scene cannot have are left out
        let document = first.document.clone();
        let build = |overlays| SceneSurfaces::build(&document.model, &document.opened, overlays);
        let (mut surfaces, error) = match build(first.overlays) {
            Ok(surfaces) => (surfaces, None),
            Err(error) => (build(Overlays::default()).ok()?, Some(error.to_string())),
        };
        let infos: Vec<SurfaceInfo> = surfaces.surfaces.clone();
        let looks: Vec<Look> = document.looks(&surfaces.looks);
        let cage = surfaces.cage().to_vec();
        let view = LiveView::new(&infos, &looks, surfaces.framed_count(), surfaces.ground());
        let mut view = view.with_overlays(&cage, surfaces.scalar());
        let topology = (!first.draws).then(|| Arc::new(view.topology()));

        let mut reader = TakeReader::default();
        let mut request = first.clone();
        loop {
            let start = Instant::now();
            if let Some(state) = request.shared.state_at(request.frame, &mut reader) {
                if let Some(painted) = &request.painted {
                    surfaces.show_softness(painted);
                }
                surfaces.scale_forces(&state);
                let drawn = surfaces.render_frame(&state);
                let ghosts: Vec<RenderFrame> =
                    request.ghosts.iter().map(|ghost| surfaces.surfaces_of(ghost)).collect();
                let mut frame = Frame::default();
                frame.update(&document.model, &state);
                let is_scaled = request.overlays.strain || request.overlays.softness;
                let scale = is_scaled.then_some(request.scale);
                let scene = topology.as_ref().map(|topology| {
                    let legend = scale.map(|scale| (surfaces.scalar(), scale));
                    Arc::new(view_scene(&view, topology, &drawn, &ghosts, (document.up, &cage), legend))
                });
                let mut shown = Shown {
                    frame: request.frame,
                    revision: request.revision,
                    document: Some(document.clone()),
                    surfaces: Arc::new(frame),
                    state,
                    scene,
                    painted: request.painted.clone(),
                    error: error.clone(),
                    ..Shown::default()
                };
                // a draft at once, and the picture itself if there is time for it
                for is_draft in [true, false] {
                    if !is_draft && (request.is_draft || !request.draws || self.is_waiting()) {
                        break;
                    }
                    shown.pictures = draw_views(&mut view, (&drawn, &ghosts), &request, is_draft, serial);
                    shown.is_draft = is_draft && request.draws;
                    shown.draw_ms = 1e3 * start.elapsed().as_secs_f64();
                    *lock(&self.shown) = shown.clone();
                    (self.wake)();
                }
            }
            request = self.next()?;
            if !request.is_like(&first) {
                return Some(request);
            }
        }
    }

    /// Whether something else is to be drawn.
    fn is_waiting(&self) -> bool {
        let wanted = lock(&self.wanted);
        wanted.request.is_some() || wanted.is_over
    }
}

/// Draws the viewports of a request; drafts at half the size.
fn draw_views(
    view: &mut LiveView,
    (now, later): (&RenderFrame, &[RenderFrame]),
    request: &PictureRequest,
    is_draft: bool,
    serial: &mut u64,
) -> [Option<Picture>; 4] {
    let later: Vec<&RenderFrame> = later.iter().collect();
    let is_scaled = request.overlays.strain || request.overlays.softness;
    let mut pictures: [Option<Picture>; 4] = Default::default();
    for wanted in request.views.iter().filter(|_| request.draws) {
        let options = LiveOptions {
            size: wanted.size.map(|side| if is_draft { side.div_ceil(2) } else { side }),
            scale: is_scaled.then_some(request.scale),
            skinned: wanted.skinned,
            is_draft,
        };
        let image = Arc::new(view.draw(now, &later, &wanted.camera, &options));
        *serial += 1;
        if let Some(slot) = pictures.get_mut(wanted.slot) {
            *slot = Some(Picture { image, camera: wanted.camera, serial: *serial });
        }
    }
    pictures
}

/// What a graphics card draws of a frame and of later ones, the latest first.
fn view_scene(
    view: &LiveView,
    topology: &Arc<LiveTopology>,
    now: &RenderFrame,
    later: &[RenderFrame],
    (up, cage): (Up, &[[u32; 3]]),
    legend: Option<(Scalar, f64)>,
) -> ViewScene {
    let scale = legend.map(|(_, scale)| scale);
    let node = |v: u32| now.cage.get(v as usize).map(|p| Vec3::new(p[0].into(), p[1].into(), p[2].into()));
    let mut edges: Vec<[u32; 2]> = cage
        .iter()
        .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    ViewScene {
        topology: topology.clone(),
        now: view.mesh(now, up, false, scale),
        skinned: (!now.skinned.is_empty()).then(|| view.mesh(now, up, true, None)),
        later: later.iter().map(|frame| view.mesh(frame, up, false, None)).collect(),
        cage: edges.iter().filter_map(|[a, b]| Some([node(*a)?, node(*b)?])).collect(),
        marks: now.marks.clone(),
        legend,
    }
}
