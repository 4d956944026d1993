import CPulse
import RTCNet
import RTCPrimitives

/// A connection to the sound server with a loop of its own, all on one thread. The server's messages are kept until the
/// owner asks for them, between two calls of `pump`; only recorded sound is delivered from within.
final class PulseConnection {
  enum State {
    case connecting
    case ready
    case failed(PulseError)
  }

  private(set) var state = State.connecting
  /// Devices came or went, or another is the default, since this was last set to false.
  var hasDeviceChanges = false
  private let loop: OpaquePointer
  fileprivate(set) var context: OpaquePointer
  private let server: String?
  private var wake: OpaquePointer?
  private var draft = PulseInventory()
  /// Answers that are still to come for `draft`.
  private var missingAnswers = 0
  private var inventory: PulseInventory?

  /// Begins to connect.
  /// - Parameters:
  ///   - server: as in PULSE_SERVER; nil for the library's choice.
  ///   - wakeDescriptor: ends a `pump` when it is readable.
  init(server: String?, wakeDescriptor: Int32? = nil) throws(PulseError) {
    guard let loop = pa_mainloop_new() else {
      throw PulseError(status: Int32(PA_ERR_INTERNAL.rawValue), server: server)
    }
    guard let context = pa_context_new(pa_mainloop_get_api(loop), "rtcast") else {
      pa_mainloop_free(loop)
      throw PulseError(status: Int32(PA_ERR_INTERNAL.rawValue), server: server)
    }
    self.loop = loop
    self.context = context
    self.server = server
    if let wakeDescriptor { wake = cpulse_watch(loop, wakeDescriptor, { _, _, _, _, _ in }) }
    pa_context_set_state_callback(context, contextStateChanged, Unmanaged.passUnretained(self).toOpaque())
    // A server that this process started would end with it, and have nothing to play.
    if pa_context_connect(context, server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 { noteState() }
  }

  deinit {
    pa_context_set_state_callback(context, nil, nil)
    pa_context_set_subscribe_callback(context, nil, nil)
    pa_context_disconnect(context)
    pa_context_unref(context)
    if let wake { cpulse_unwatch(loop, wake) }
    pa_mainloop_free(loop)
  }

  /// Waits for something to happen and deals with it; returns at `deadline` (nil: without end) at the latest.
  func pump(until deadline: Timestamp?) {
    var microseconds: Int32 = -1
    if let deadline {
      let left = (deadline - MonotonicClock.now()).nanoseconds
      microseconds = Int32(max(0, min(left, 60_000_000_000)) / 1_000 + (left > 0 ? 1 : 0))
    }
    guard pa_mainloop_prepare(loop, microseconds) >= 0, pa_mainloop_poll(loop) >= 0, pa_mainloop_dispatch(loop) >= 0
    else {
      state = .failed(PulseError(status: Int32(PA_ERR_INTERNAL.rawValue), server: server))
      return
    }
  }

  /// Pumps until the server has taken or refused the connection; `isWanted` is asked after each step, and `nextLook` says
  /// when the next is due at the latest.
  func connect(
    until deadline: Timestamp, while isWanted: () -> Bool = { true }, nextLook: () -> Timestamp? = { nil }
  ) throws(PulseError) {
    while isWanted() {
      switch state {
      case .ready: return
      case .failed(let error): throw error
      case .connecting: break
      }
      if MonotonicClock.now() >= deadline { throw .timeout(server) }
      pump(until: min(deadline, nextLook() ?? deadline))
    }
  }

  /// From here on `hasDeviceChanges` is set.
  /// - Parameter streams: also when a program begins or ends to play.
  func watchDevices(andStreams streams: Bool = false) {
    pa_context_set_subscribe_callback(context, devicesChanged, Unmanaged.passUnretained(self).toOpaque())
    let mask =
      PA_SUBSCRIPTION_MASK_SERVER.rawValue | PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SOURCE.rawValue
      | (streams ? PA_SUBSCRIPTION_MASK_SINK_INPUT.rawValue : 0)
    release(pa_context_subscribe(context, pa_subscription_mask_t(rawValue: mask), nil, nil))
  }

  /// Requests the list of devices; false while an earlier request is pending.
  func requestInventory() -> Bool {
    guard missingAnswers == 0 else { return false }
    draft = PulseInventory()
    missingAnswers = 4
    let context = context
    let own = Unmanaged.passUnretained(self).toOpaque()
    release(pa_context_get_server_info(context, serverAnswered, own))
    release(pa_context_get_sink_info_list(context, sinkAnswered, own))
    release(pa_context_get_source_info_list(context, sourceAnswered, own))
    release(pa_context_get_sink_input_info_list(context, streamAnswered, own))
    return true
  }

  /// The devices after a change, once.
  func takeChangedInventory() -> PulseInventory? {
    if hasDeviceChanges, requestInventory() { hasDeviceChanges = false }
    // A change after the question makes the answer an old one.
    guard let inventory = takeInventory(), !hasDeviceChanges else { return nil }
    return inventory
  }

  /// The devices in the last answer, once.
  func takeInventory() -> PulseInventory? {
    defer { inventory = nil }
    return inventory
  }

  /// The library's error of the last failed call.
  var lastError: PulseError { PulseError(status: pa_context_errno(context), server: server) }

  /// A question that could not be asked leaves a broken connection behind, which is noticed by its state.
  private func release(_ operation: OpaquePointer?) { operation.map { pa_operation_unref($0) } }

  fileprivate func noteState() {
    switch pa_context_get_state(context) {
    case PA_CONTEXT_READY: state = .ready
    case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED: state = .failed(lastError)
    default: break
    }
  }

  /// Volumes and names change often: only new and removed devices matter, and the server's defaults.
  fileprivate func noteDeviceEvent(_ event: UInt32) {
    let isServer = event & PA_SUBSCRIPTION_EVENT_FACILITY_MASK.rawValue == PA_SUBSCRIPTION_EVENT_SERVER.rawValue
    let isChange = event & PA_SUBSCRIPTION_EVENT_TYPE_MASK.rawValue == PA_SUBSCRIPTION_EVENT_CHANGE.rawValue
    if isServer || !isChange { hasDeviceChanges = true }
  }

  fileprivate func note(_ server: pa_server_info?) {
    if let server {
      draft.serverName = text(server.server_name) ?? ""
      draft.serverVersion = text(server.server_version) ?? ""
      draft.defaultSink = text(server.default_sink_name)
      draft.defaultSource = text(server.default_source_name)
    }
    noteAnswer()
  }

  /// Nil ends the list.
  fileprivate func note(_ sink: pa_sink_info?) {
    guard let sink else { return noteAnswer() }
    guard let name = text(sink.name) else { return }
    draft.sinks.append(
      PulseInventory.Sink(
        name: name, description: text(sink.description), monitor: text(sink.monitor_source_name),
        echoFilter: echoFilter(name, driver: text(sink.driver), sink.proplist), index: sink.index))
  }

  fileprivate func note(_ source: pa_source_info?) {
    guard let source else { return noteAnswer() }
    guard let name = text(source.name) else { return }
    draft.sources.append(
      PulseInventory.Source(
        name: name, description: text(source.description) ?? name, isMonitor: source.monitor_of_sink != UInt32.max,
        echoFilter: echoFilter(name, driver: text(source.driver), source.proplist)))
  }

  fileprivate func note(_ stream: pa_sink_input_info?) {
    guard let stream else { return noteAnswer() }
    func property(_ name: String) -> String? { text(pa_proplist_gets(stream.proplist, name)) }
    // A stream without a program is the server's own, such as what a loopback plays.
    guard let name = property("application.name") ?? property("application.process.binary") else { return }
    draft.streams.append(
      PulseInventory.Stream(
        index: stream.index, sink: stream.sink, name: name,
        otherNames: ["application.process.binary", "application.icon_name", "application.id"].compactMap(property),
        process: property("application.process.id")))
  }

  /// PulseAudio identifies them by their module, PipeWire only by the names in its documentation.
  private func echoFilter(_ name: String, driver: String?, _ properties: OpaquePointer?) -> PulseInventory.EchoFilter? {
    let names = [name.lowercased(), driver?.lowercased() ?? ""]
    guard names.contains(where: { $0.contains("echo-cancel") || $0.contains("echo_cancel") }) else { return nil }
    return PulseInventory.EchoFilter(master: properties.flatMap { text(pa_proplist_gets($0, "device.master_device")) })
  }

  private func noteAnswer() {
    missingAnswers -= 1
    if missingAnswers == 0 { inventory = draft }
  }

  private func text(_ string: UnsafePointer<CChar>?) -> String? { string.map { String(cString: $0) } }
}

// The library calls these on the connection's thread, from inside `pump` or a call of the connection's own; the
// connection takes itself out of the library before it goes.

private func connection(_ context: UnsafeMutableRawPointer?) -> PulseConnection {
  Unmanaged<PulseConnection>.fromOpaque(context!).takeUnretainedValue()
}

private func contextStateChanged(_: OpaquePointer?, _ own: UnsafeMutableRawPointer?) { connection(own).noteState() }

private func devicesChanged(
  _: OpaquePointer?, _ event: pa_subscription_event_type_t, _: UInt32, _ own: UnsafeMutableRawPointer?
) { connection(own).noteDeviceEvent(event.rawValue) }

private func serverAnswered(
  _: OpaquePointer?, _ server: UnsafePointer<pa_server_info>?, _ own: UnsafeMutableRawPointer?
) { connection(own).note(server?.pointee) }

// Below zero the question failed, above zero the list has ended: either way no more comes.
private func sinkAnswered(
  _: OpaquePointer?, _ sink: UnsafePointer<pa_sink_info>?, _ end: Int32, _ own: UnsafeMutableRawPointer?
) { connection(own).note(end == 0 ? sink?.pointee : nil) }

private func streamAnswered(
  _: OpaquePointer?, _ stream: UnsafePointer<pa_sink_input_info>?, _ end: Int32, _ own: UnsafeMutableRawPointer?
) { connection(own).note(end == 0 ? stream?.pointee : nil) }

private func sourceAnswered(
  _: OpaquePointer?, _ source: UnsafePointer<pa_source_info>?, _ end: Int32, _ own: UnsafeMutableRawPointer?
) { connection(own).note(end == 0 ? source?.pointee : nil) }
