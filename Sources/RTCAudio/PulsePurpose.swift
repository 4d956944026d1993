import CPulse

/// The purpose of a stream, which the server is told.
enum PulsePurpose {
  case cast
  /// Sound of a conversation: the server is asked to cancel echo. PulseAudio does so if module-filter-heuristics and
  /// module-filter-apply are loaded, as by default.
  case call

  var name: String {
    switch self {
    case .cast: "Sound of a cast"
    case .call: "Sound of a call"
    }
  }

  /// To be freed by the caller; nil when memory is short.
  func properties() -> OpaquePointer? {
    guard let properties = pa_proplist_new() else { return nil }
    if case .call = self {
      pa_proplist_sets(properties, "media.role", "phone")
      pa_proplist_sets(properties, "filter.want", "echo-cancel")
    }
    return properties
  }

  /// A stream of stereo at 48 kHz, not connected; nil when the library refuses.
  func stream(_ connection: PulseConnection) -> OpaquePointer? {
    guard let properties = properties() else { return nil }
    defer { pa_proplist_free(properties) }
    var specification = pa_sample_spec(format: cpulse_native_float(), rate: 48_000, channels: 2)
    return pa_stream_new_with_proplist(connection.context, name, &specification, nil, properties)
  }
}
