import ArgumentParser

/// `--wayland-backend`.
enum WaylandBackend: String, ExpressibleByArgument, CaseIterable {
  case auto, wlr, portal, mutter
}
