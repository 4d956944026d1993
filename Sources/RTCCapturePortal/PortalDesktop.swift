public import RTCMedia

/// The ways of a desktop session to share its screen by PipeWire, for a choice between them and for a report to a person.
public struct PortalDesktop: Hashable, Sendable {
  /// Whether GNOME's Mutter records without a dialog.
  public var hasMutter: Bool
  /// The version of the portal's ScreenCast; nil if there is none.
  public var portalVersion: Int?
  /// The version of libpipewire-0.3; nil if it cannot be loaded.
  public var pipeWireVersion: String?

  /// Asks the session's D-Bus. Blocks for a few round trips, and until the portal has started.
  public init() throws(CaptureError) {
    let bus = try DesktopBus()
    hasMutter = bus.has("org.gnome.Mutter.ScreenCast")
    portalVersion = bus.has("org.freedesktop.portal.Desktop") ? bus.portalVersion : nil
    pipeWireVersion = PipeWireStream.version
  }

  /// The way that is taken unless another one is asked for; nil: there is none. The portal asks its user, and so comes
  /// first.
  public var backend: PortalCaptureOptions.Backend? {
    if portalVersion != nil { return .portal }
    return hasMutter ? .mutter : nil
  }
}
