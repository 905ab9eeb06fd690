//! A window without a graphics card: `winit` for its events, [`SoftwarePainter`] for its pixels, and only what has changed is handed to the display.

use crate::software_painter::{PixelRect, SoftwarePainter};
use egui::{Color32, Context, ViewportEvent, ViewportId, ViewportInfo};
use egui_winit::accesskit_winit;
use egui_winit::winit::application::ApplicationHandler;
use egui_winit::winit::event::WindowEvent;
use egui_winit::winit::event_loop::{
    ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy, OwnedDisplayHandle,
};
use egui_winit::winit::window::{Window, WindowId};
use softbuffer::Surface;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The largest side of a picture (pixels).
const MAX_TEXTURE_SIDE: usize = 8192;

/// What is shown in the window.
pub trait WindowContent {
    /// One pass of the interface.
    fn ui(&mut self, ui: &mut egui::Ui);

    /// The colour below everything.
    fn background(&self, visuals: &egui::Visuals) -> Color32;

    /// The window is closing.
    fn on_exit(&mut self);
}

/// Shows content in a window until it is closed; `create` makes it once there is a window. The error says why there is none.
pub fn run(
    viewport: egui::ViewportBuilder,
    create: impl FnOnce(&Context) -> Result<Box<dyn WindowContent>, String>,
) -> Result<(), String> {
    let events = EventLoop::<Wake>::with_user_event().build().map_err(|error| error.to_string())?;
    let proxy = events.create_proxy();
    let mut application = Application { viewport, create: Some(create), proxy, shown: None, failure: None };
    events.run_app(&mut application).map_err(|error| error.to_string())?;
    application.failure.map_or(Ok(()), Err)
}

/// What other threads tell the window.
enum Wake {
    /// A pass is asked for, at a time.
    Repaint(Instant),
    /// Assistive technology asks for something.
    Accessibility(accesskit_winit::Event),
}

impl From<accesskit_winit::Event> for Wake {
    fn from(event: accesskit_winit::Event) -> Wake {
        Wake::Accessibility(event)
    }
}

struct Application<Create> {
    viewport: egui::ViewportBuilder,
    create: Option<Create>,
    proxy: EventLoopProxy<Wake>,
    shown: Option<Shown>,
    failure: Option<String>,
}

/// The window and what is shown in it.
struct Shown {
    context: Context,
    content: Box<dyn WindowContent>,
    window: Arc<Window>,
    surface: Surface<OwnedDisplayHandle, Arc<Window>>,
    input: egui_winit::State,
    info: ViewportInfo,
    painter: SoftwarePainter,
    /// When the next pass is due.
    due: Option<Instant>,
    start: Instant,
    /// Whether all pixels are to be handed to the display.
    is_stale: bool,
    is_hidden: bool,
}

impl<Create: FnOnce(&Context) -> Result<Box<dyn WindowContent>, String>> ApplicationHandler<Wake>
    for Application<Create>
{
    fn resumed(&mut self, events: &ActiveEventLoop) {
        let Some(create) = self.create.take() else { return };
        match Shown::open(events, &self.viewport, &self.proxy, create) {
            Ok(shown) => self.shown = Some(shown),
            Err(error) => {
                self.failure = Some(error);
                events.exit();
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _id: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else { return };
        match &event {
            WindowEvent::RedrawRequested => {
                // parts of the window may have been covered
                shown.is_stale = true;
                shown.due.get_or_insert_with(Instant::now);
            }
            WindowEvent::CloseRequested => shown.info.events.push(ViewportEvent::Close),
            WindowEvent::Occluded(is_hidden) => shown.is_hidden = *is_hidden,
            _ => {}
        }
        let response = shown.input.on_window_event(&shown.window, &event);
        if response.repaint || matches!(event, WindowEvent::CloseRequested | WindowEvent::Resized(_)) {
            shown.due = Some(Instant::now());
        }
        shown.close_if_asked(events);
    }

    fn user_event(&mut self, _events: &ActiveEventLoop, wake: Wake) {
        let Some(shown) = &mut self.shown else { return };
        match wake {
            Wake::Repaint(at) => shown.due = Some(shown.due.map_or(at, |due| due.min(at))),
            Wake::Accessibility(event) => {
                match event.window_event {
                    accesskit_winit::WindowEvent::InitialTreeRequested => shown.context.enable_accesskit(),
                    accesskit_winit::WindowEvent::ActionRequested(request) => {
                        shown.input.on_accesskit_action_request(request);
                    }
                    accesskit_winit::WindowEvent::AccessibilityDeactivated => {
                        shown.context.disable_accesskit()
                    }
                }
                shown.due = Some(Instant::now());
            }
        }
    }

    /// Everything that has happened is seen by one pass.
    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        let Some(shown) = &mut self.shown else { return };
        if shown.due.is_some_and(|due| due <= Instant::now()) {
            shown.due = None;
            if let Err(error) = shown.pass(events) {
                self.failure = Some(error);
                return events.exit();
            }
            shown.close_if_asked(events);
        }
        // a window that is not seen needs no haste
        let rest = if shown.is_hidden { Duration::from_millis(250) } else { Duration::ZERO };
        events.set_control_flow(match shown.due {
            Some(due) => ControlFlow::WaitUntil(due.max(Instant::now() + rest)),
            None => ControlFlow::Wait,
        });
    }

    fn exiting(&mut self, _events: &ActiveEventLoop) {
        if let Some(mut shown) = self.shown.take() {
            shown.content.on_exit();
        }
    }
}

impl Shown {
    fn open(
        events: &ActiveEventLoop,
        viewport: &egui::ViewportBuilder,
        proxy: &EventLoopProxy<Wake>,
        create: impl FnOnce(&Context) -> Result<Box<dyn WindowContent>, String>,
    ) -> Result<Shown, String> {
        let context = Context::default();
        let waker = proxy.clone();
        context.set_request_repaint_callback(move |info| {
            // nobody is to be woken once the window is closed
            let _ = waker.send_event(Wake::Repaint(Instant::now() + info.delay));
        });

        // hidden until assistive technology knows of it
        let hidden = viewport.clone().with_visible(false);
        let window =
            egui_winit::create_window(&context, events, &hidden).map_err(|error| error.to_string())?;
        let mut input = egui_winit::State::new(
            context.clone(),
            ViewportId::ROOT,
            events,
            Some(window.scale_factor() as f32),
            window.theme(),
            Some(MAX_TEXTURE_SIDE),
        );
        input.init_accesskit(events, &window, proxy.clone());
        let mut info = ViewportInfo::default();
        egui_winit::update_viewport_info(&mut info, &context, &window, true);
        window.set_visible(true);

        let window = Arc::new(window);
        let display =
            softbuffer::Context::new(events.owned_display_handle()).map_err(|error| error.to_string())?;
        let surface = Surface::new(&display, window.clone()).map_err(|error| error.to_string())?;
        let content = create(&context)?;
        Ok(Shown {
            context,
            content,
            window,
            surface,
            input,
            info,
            painter: SoftwarePainter::default(),
            due: Some(Instant::now()),
            start: Instant::now(),
            is_stale: true,
            is_hidden: false,
        })
    }

    /// A pass of the interface, and its pixels.
    fn pass(&mut self, events: &ActiveEventLoop) -> Result<(), String> {
        // what has happened since the last one
        egui_winit::update_viewport_info(&mut self.info, &self.context, &self.window, false);
        let mut input = self.input.take_egui_input(&self.window);
        input.time = Some(self.start.elapsed().as_secs_f64());
        input.viewports = std::iter::once((ViewportId::ROOT, self.info.clone())).collect();
        self.info.events.clear();

        let content = &mut self.content;
        let mut output = self.context.run_ui(input, |ui| content.ui(ui));

        self.input.handle_platform_output_with_event_loop(&self.window, events, output.platform_output);
        let commands = output.viewport_output.remove(&ViewportId::ROOT).map(|own| own.commands);
        egui_winit::process_viewport_commands(
            &self.context,
            &mut self.info,
            commands.unwrap_or_default(),
            &self.window,
            &mut Vec::new(),
        );

        // its pixels
        self.painter.upload(&mut output.textures_delta);
        let size = self.window.inner_size();
        let (Some(width), Some(height)) = (NonZeroU32::new(size.width), NonZeroU32::new(size.height)) else {
            return Ok(());
        };
        let primitives = self.context.tessellate(output.shapes, output.pixels_per_point);
        let ground = self.content.background(&self.context.global_style().visuals);
        let pixels = [size.width as usize, size.height as usize];
        self.is_stale |= self.painter.size() != pixels;
        let changed = self.painter.paint(&primitives, pixels, output.pixels_per_point, ground);
        self.present([width, height], &changed).map_err(|error| error.to_string())
    }

    /// Hands changed pixels to the display.
    fn present(
        &mut self,
        [width, height]: [NonZeroU32; 2],
        changed: &[PixelRect],
    ) -> Result<(), softbuffer::SoftBufferError> {
        self.surface.resize(width, height)?;
        let mut buffer = self.surface.buffer_mut()?;
        let columns = width.get() as usize;
        let whole = [PixelRect { min: [0; 2], max: [columns, height.get() as usize] }];
        let is_whole = self.is_stale || buffer.age() == 0;
        // a display with two buffers has an older picture in this one
        let copied = if buffer.age() == 1 && !is_whole { changed } else { &whole[..] };
        for rect in copied {
            for y in rect.min[1]..rect.max[1] {
                let row = y * columns + rect.min[0]..y * columns + rect.max[0];
                buffer[row.clone()].copy_from_slice(&self.painter.pixels()[row]);
            }
        }
        self.is_stale = false;
        let shown = if is_whole { &whole[..] } else { changed };
        let damage: Vec<softbuffer::Rect> = shown.iter().filter_map(damaged).collect();
        if damage.is_empty() { Ok(()) } else { buffer.present_with_damage(&damage) }
    }

    fn close_if_asked(&mut self, events: &ActiveEventLoop) {
        if self.info.events.contains(&ViewportEvent::Close) {
            events.exit();
        }
    }
}

fn damaged(rect: &PixelRect) -> Option<softbuffer::Rect> {
    let [x, y] = rect.min.map(|side| side as u32);
    Some(softbuffer::Rect {
        x,
        y,
        width: NonZeroU32::new(rect.max[0] as u32 - x)?,
        height: NonZeroU32::new(rect.max[1] as u32 - y)?,
    })
}
