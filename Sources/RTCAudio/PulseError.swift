import CPulse
package import RTCMedia

/// An error of the sound server, by the library's status code.
package struct PulseError: Error, Hashable, Sendable {
  package var status: Int32
  /// The server named by the application; nil if the library chose it.
  package var server: String?

  /// No answer came in time.
  static func timeout(_ server: String?) -> PulseError {
    PulseError(status: Int32(PA_ERR_TIMEOUT.rawValue), server: server)
  }

  /// The library's own words.
  package var words: String { pa_strerror(status).map { String(cString: $0) } ?? "error \(status)" }

  private var place: String { server.map { " at \($0)" } ?? "" }

  /// The error for capturing sound.
  package var captureError: CaptureError {
    switch UInt32(bitPattern: status) {
    case PA_ERR_ACCESS.rawValue, PA_ERR_AUTHKEY.rawValue:
      .notPermitted(
        "The sound server\(place) refuses this user (\(words)). Run rtcast as the user of the desktop, or let it read "
          + "that user's ~/.config/pulse/cookie.")
    case PA_ERR_TIMEOUT.rawValue:
      .unavailable(
        "The sound server\(place) takes the connection but does not answer. Restart PulseAudio or PipeWire; "
          + "`pactl info` must print its name.")
    default:
      .unavailable(
        "No sound server answers\(place) (\(words)). Start PulseAudio (`pulseaudio --start`) or PipeWire (with pipewire-pulse): "
          + "`pactl info` must print its name. PULSE_SERVER names another server, and --audio none goes without sound.")
    }
  }
}
