//! Draws the viewports in a thread of their own, so that the interface waits neither for physics nor for pictures.

mod drawn_skin;
mod rest_pictures;

use drawn_skin::DrawnSkin;
pub(crate) use rest_pictures::RestRequest;

use crate::session::{Document, Session, Shared, TakeReader, in_own_pool};
use crate::view_painter::ViewScene;
use sinew_io::SceneSurfaces;
use sinew_math::Vec3;
use sinew_render::{LiveOptions, LiveTopology, LiveView, Look, OrbitCamera, Overlays, RenderFrame, Scalar};
use sinew_sim::State;
use sinew_take::{Frame, SurfaceInfo, Up};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long nothing new must be asked for before a draft is drawn again in full: a hand that moves, and the next of many jumps, come sooner.
const SETTLE: Duration = Duration::from_millis(80);

/// Drafts with more pixels are drawn at half the size.
const MAX_DRAFT: usize = 1_000_000;

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
    /// Whether the last frame that a hand has led is drawn, whichever it is by then.
    pub follows_hand: bool,
    /// What is being painted, one number per vertex of each body, in place of the softness of the scene.
    pub painted: Option<Arc<Vec<Vec<f32>>>>,
    /// What these numbers are.
    pub painted_scalar: Scalar,
    /// Whether skin is drawn over flesh.
    pub has_skin: bool,
}

impl PictureRequest {
    /// The end of the scale, if colours show one.
    fn scale_shown(&self) -> Option<f64> {
        (self.overlays.strain || self.overlays.softness).then_some(self.scale)
    }

    fn is_like(&self, other: &PictureRequest) -> bool {
        Arc::ptr_eq(&self.document, &other.document)
            && self.overlays == other.overlays
            && self.painted.is_some() == other.painted.is_some()
            && self.painted_scalar == other.painted_scalar
            && self.has_skin == other.has_skin
            && self.draws == other.draws
    }

    /// The frame and its revision, now.
    fn place(&self) -> (usize, u64) {
        self.shared.led_frame().filter(|_| self.follows_hand).unwrap_or((self.frame, self.revision))
    }

    /// Whether both ask for the same pictures.
    fn is_same(&self, other: &PictureRequest) -> bool {
        (self.revision, self.frame) == (other.revision, other.frame)
            && self.is_draft == other.is_draft
            && self.follows_hand == other.follows_hand
            && self.looks_like(other)
    }

    /// Whether what was drawn last is what is asked for: another revision of the same state, as when a hand has just grabbed.
    fn is_drawn_by(&self, (drawn, shown): &(PictureRequest, Shown), state: &Arc<State>) -> bool {
        let is_good = self.is_draft || !shown.is_draft;
        is_good && Arc::ptr_eq(&shown.state, state) && self.looks_like(drawn)
    }

    /// Whether both ask for the same pictures of a state.
    fn looks_like(&self, other: &PictureRequest) -> bool {
        let same_ghosts = self.ghosts.len() == other.ghosts.len()
            && self.ghosts.iter().zip(&other.ghosts).all(|(a, b)| Arc::ptr_eq(a, b));
        self.is_like(other)
            && self.views == other.views
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
    pub image: Arc<egui::ColorImage>,
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
    /// Whether they have skin over flesh.
    pub has_skin: bool,
    /// The painted numbers that the pictures show.
    pub painted: Option<Arc<Vec<Vec<f32>>>>,
    /// Whether the pictures are drafts, which better ones follow if there is time.
    pub is_draft: bool,
    /// Whether they are of a scene at rest, whose flesh is being built.
    pub is_rest: bool,
    /// How long it took from asking for the frame until its state was there (ms).
    pub state_ms: f64,
    /// Why overlays could not be drawn.
    pub error: Option<String>,
    /// How long the last pictures took (ms).
    pub draw_ms: f64,
}

/// What is asked of the thread.
#[derive(Clone)]
enum Wish {
    Frame(Box<PictureRequest>),
    Rest(RestRequest),
}

impl Wish {
    /// Whether both ask for the same pictures.
    fn is_same(&self, other: &Wish) -> bool {
        match (self, other) {
            (Wish::Frame(a), Wish::Frame(b)) => a.is_same(b),
            (Wish::Rest(a), Wish::Rest(b)) => a.is_same(b),
            _ => false,
        }
    }
}

/// The thread that draws.
pub struct Pictures {
    shared: Arc<Exchange>,
    last: Option<Wish>,
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
    /// What is asked for, and since when.
    wish: Option<(Wish, Instant)>,
    /// Whether something was simulated since the last picture.
    is_told: bool,
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
        self.wish(Wish::Frame(Box::new(request)));
    }

    /// Asks for pictures of a scene at rest.
    pub(crate) fn ask_at_rest(&mut self, request: RestRequest) {
        self.wish(Wish::Rest(request));
    }

    /// For threads that simulate.
    pub(crate) fn waker(&self) -> PictureWaker {
        PictureWaker(self.shared.clone())
    }

    fn wish(&mut self, wish: Wish) {
        if self.last.as_ref().is_some_and(|last| last.is_same(&wish)) {
            return;
        }
        self.last = Some(wish.clone());
        lock(&self.shared.wanted).wish = Some((wish, Instant::now()));
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
            follows_hand: false,
            painted: None,
            painted_scalar: Scalar::default(),
            has_skin: false,
        }
    }
}

/// Tells the thread of pictures that something was simulated.
pub(crate) struct PictureWaker(Arc<Exchange>);

impl PictureWaker {
    pub(crate) fn tell(&self) {
        lock(&self.0.wanted).is_told = true;
        self.0.arrived.notify_one();
    }
}

impl Drop for Pictures {
    fn drop(&mut self) {
        lock(&self.shared.wanted).is_over = true;
        self.shared.arrived.notify_one();
    }
}

/// What is drawn after a picture.
enum Next {
    /// What is asked for, and since when.
    Wish(Wish, Instant),
    /// The same of a newer frame.
    Led,
}

impl Exchange {
    /// The next wish, and since when it waits; `None` at the end.
    fn next(&self) -> Option<(Wish, Instant)> {
        let mut wanted = lock(&self.wanted);
        loop {
            if wanted.is_over {
                return None;
            }
            if let Some(wish) = wanted.wish.take() {
                return Some(wish);
            }
            wanted = self.arrived.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn run(&self) {
        let mut serial = 0;
        let mut next = self.next();
        while let Some((wish, since)) = next {
            next = match wish {
                Wish::Frame(request) => self.draw_scene(*request, since, &mut serial),
                Wish::Rest(request) => {
                    self.draw_rest(&request, &mut serial);
                    self.next()
                }
            };
        }
    }

    /// Draws requests of one scene with the same overlays, and returns the first other one.
    fn draw_scene(
        &self,
        first: PictureRequest,
        mut since: Instant,
        serial: &mut u64,
    ) -> Option<(Wish, Instant)> {
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
        let scalar = if first.painted.is_some() { first.painted_scalar } else { surfaces.scalar() };
        let mut view = view.with_overlays(&cage, scalar);
        let topology = (!first.draws).then(|| Arc::new(view.topology()));

        let mut skin = first.has_skin.then(|| DrawnSkin::of(&document));
        let mut reader = TakeReader::default();
        let mut request = first.clone();
        let mut last: Option<(PictureRequest, Shown)> = None;
        loop {
            let start = Instant::now();
            let drawn_place = request.place();
            let (frame, revision) = drawn_place;
            let state = request.shared.state_at(frame, &mut reader);
            let again = last.as_mut().zip(state.as_ref());
            if let Some((last, _)) = again.filter(|(last, state)| request.is_drawn_by(last, state)) {
                (last.1.frame, last.1.revision) = drawn_place;
                self.publish(&last.1);
            } else if let Some(state) = state {
                let state_ms = 1e3 * since.elapsed().as_secs_f64();
                if let Some(painted) = &request.painted {
                    surfaces.show_painted(painted);
                }
                surfaces.scale_forces(&state);
                let mut surfaces_now = Frame::default();
                surfaces_now.update(&document.model, &state);
                let drawn = match &mut skin {
                    Some(skin) => {
                        surfaces.render_frame_of(&state, &surfaces_now, skin.over(&surfaces_now, drawn_place))
                    }
                    None => surfaces.render_frame_of(&state, &surfaces_now, &surfaces_now),
                };
                let ghosts: Vec<RenderFrame> =
                    request.ghosts.iter().map(|ghost| surfaces.surfaces_of(ghost)).collect();
                let scene = topology.as_ref().map(|topology| {
                    let legend = request.scale_shown().map(|scale| (scalar, scale));
                    Arc::new(view_scene(&view, topology, &drawn, &ghosts, (document.up, &cage), legend))
                });
                let mut shown = Shown {
                    frame,
                    revision,
                    document: Some(document.clone()),
                    surfaces: Arc::new(surfaces_now),
                    state,
                    scene,
                    painted: request.painted.clone(),
                    has_skin: skin.is_some(),
                    error: error.clone(),
                    state_ms,
                    ..Shown::default()
                };
                self.draw_shown(&mut view, (&drawn, &ghosts), &request, (&mut shown, start), serial);
                last = Some((request.clone(), shown));
            }
            match self.next_or_led(&request, drawn_place)? {
                Next::Wish(Wish::Frame(next), asked) if next.is_like(&first) => {
                    (request, since) = (*next, asked);
                }
                Next::Wish(wish, asked) => return Some((wish, asked)),
                Next::Led => since = Instant::now(),
            }
        }
    }

    /// Draws a draft at once, and the picture itself if there is time for it.
    fn draw_shown(
        &self,
        view: &mut LiveView,
        (now, later): (&RenderFrame, &[RenderFrame]),
        request: &PictureRequest,
        (shown, start): (&mut Shown, Instant),
        serial: &mut u64,
    ) {
        for is_draft in [true, false] {
            if !is_draft && (request.is_draft || !request.draws || self.is_asked_within(SETTLE)) {
                return;
            }
            let is_wanted = || !self.is_asked();
            let is_wanted: Option<&(dyn Fn() -> bool + Sync)> =
                if is_draft { None } else { Some(&is_wanted) };
            let Some(pictures) = draw_views(view, (now, later), request, is_wanted, serial) else { return };
            shown.pictures = pictures;
            shown.is_draft = is_draft && request.draws;
            shown.draw_ms = 1e3 * start.elapsed().as_secs_f64();
            self.publish(shown);
        }
    }

    fn publish(&self, shown: &Shown) {
        *lock(&self.shown) = shown.clone();
        (self.wake)();
    }

    /// The next wish, or another frame that a hand has led since one was drawn.
    fn next_or_led(&self, request: &PictureRequest, drawn: (usize, u64)) -> Option<Next> {
        let mut wanted = lock(&self.wanted);
        loop {
            if wanted.is_over {
                return None;
            }
            if let Some((wish, since)) = wanted.wish.take() {
                return Some(Next::Wish(wish, since));
            }
            if std::mem::take(&mut wanted.is_told) && request.follows_hand {
                drop(wanted);
                if request.place() != drawn {
                    return Some(Next::Led);
                }
                wanted = lock(&self.wanted);
                continue;
            }
            wanted = self.arrived.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether something else is to be drawn.
    fn is_asked(&self) -> bool {
        let wanted = lock(&self.wanted);
        wanted.wish.is_some() || wanted.is_over
    }

    /// Waits for a time whether something else is to be drawn.
    fn is_asked_within(&self, time: Duration) -> bool {
        let wanted = lock(&self.wanted);
        let is_quiet = |wanted: &mut Wanted| wanted.wish.is_none() && !wanted.is_over;
        let waited = self.arrived.wait_timeout_while(wanted, time, is_quiet);
        let (wanted, _) = waited.unwrap_or_else(PoisonError::into_inner);
        wanted.wish.is_some() || wanted.is_over
    }
}

/// Draws the viewports of a request: drafts, or the pictures themselves as long as they are wanted.
fn draw_views(
    view: &mut LiveView,
    (now, later): (&RenderFrame, &[RenderFrame]),
    request: &PictureRequest,
    is_wanted: Option<&(dyn Fn() -> bool + Sync)>,
    serial: &mut u64,
) -> Option<[Option<Picture>; 4]> {
    let later: Vec<&RenderFrame> = later.iter().collect();
    let mut pictures: [Option<Picture>; 4] = Default::default();
    for wanted in request.views.iter().filter(|_| request.draws) {
        let picture = draw_view(view, (now, &later), wanted, request.scale_shown(), is_wanted, serial)?;
        if let Some(slot) = pictures.get_mut(wanted.slot) {
            *slot = Some(picture);
        }
    }
    Some(pictures)
}

/// Draws a viewport as long as it is wanted, or a draft of it, of large ones at half the size.
fn draw_view(
    view: &mut LiveView,
    (now, later): (&RenderFrame, &[&RenderFrame]),
    wanted: &ViewRequest,
    scale: Option<f64>,
    is_wanted: Option<&(dyn Fn() -> bool + Sync)>,
    serial: &mut u64,
) -> Option<Picture> {
    let is_draft = is_wanted.is_none();
    let is_halved = is_draft && wanted.size[0] * wanted.size[1] > MAX_DRAFT;
    let size = wanted.size.map(|side| if is_halved { side.div_ceil(2) } else { side });
    let options = LiveOptions { size, scale, skinned: wanted.skinned, is_draft, slot: wanted.slot };
    let image = match is_wanted {
        Some(is_wanted) => view.draw_while(now, later, &wanted.camera, &options, is_wanted)?,
        None => view.draw(now, later, &wanted.camera, &options),
    };
    let image = Arc::new(egui::ColorImage::from_rgb([image.width, image.height], &image.bytes));
    *serial += 1;
    Some(Picture { image, camera: wanted.camera, serial: *serial })
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
