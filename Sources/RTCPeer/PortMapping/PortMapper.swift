import CLinux
import Glibc
import RTCICE
package import RTCNet
package import RTCPrimitives
import Synchronization

/// Has the router of this network forward ports, on a thread of its own: finds the router, follows it when the network
/// changes, and ends the mappings when it is stopped.
package final class PortMapper: Sendable {
  private let thread = WorkerThread()

  package init() {}

  /// Begins to ask; returns at once. Any thread, once.
  /// - Parameters:
  ///   - wanted: one or more ports.
  ///   - onEvent: gets each change, on the mapper's thread; must not wait for the mapper.
  /// - Throws: if the system has no thread left.
  package func start(
    _ wanted: [WantedMapping], onEvent: @escaping @Sendable (PortMappingClient.Event) -> Void
  ) throws(SystemError) {
    _ = try thread.start(name: "rtc-portmap") { run in
      do throws(SystemError) {
        try PortMapperRun(wanted, run, onEvent).perform()
      } catch {
        for wanted in wanted { onEvent(.failed(wanted, .noNetwork)) }
      }
    }
  }

  /// Ends the mappings, without waiting for the router's answer. Any thread, any number of times.
  package func stop() { thread.stop() }
}

/// The mapper's thread.
private final class PortMapperRun {
  /// How often the way out is looked at again.
  private static let lookInterval = TimeDelta.seconds(5)

  private let wanted: [WantedMapping]
  private let run: WorkerRun
  /// Waits for the run's wake and for the router's answers.
  private let poller: Poller
  private let onEvent: (PortMappingClient.Event) -> Void
  private var router: Router?
  private var told: Set<PortMappingClient.Event> = []

  /// A router, and the connected socket to it, which it owns.
  private final class Router {
    let gateway: UInt32
    let socket: Int32
    var client: PortMappingClient

    init(_ gateway: UInt32, owning socket: Int32, _ client: PortMappingClient) {
      (self.gateway, self.socket, self.client) = (gateway, socket, client)
    }

    deinit { close(socket) }
  }

  init(
    _ wanted: [WantedMapping], _ run: WorkerRun, _ onEvent: @escaping (PortMappingClient.Event) -> Void
  ) throws(SystemError) {
    (self.wanted, self.run, self.onEvent) = (wanted, run, onEvent)
    poller = try Poller()
    try poller.add(run.descriptor, token: 0)
  }

  func perform() {
    var room = [UInt8](repeating: 0, count: 1_100)
    var lookAt = Timestamp.zero
    while !run.isStopped {
      let now = MonotonicClock.now()
      if lookAt <= now {
        lookAt = now + Self.lookInterval
        look(now)
      }
      var deadline = lookAt
      if let router {
        receive(router, &room)
        let (requests, events) = router.client.poll(now)
        for request in requests { send(request, to: router) }
        events.forEach(tell)
        deadline = min(deadline, router.client.nextDeadline)
      }
      if poller.wait(until: deadline).contains(0) { run.wait(until: .zero) }
    }
    if let router { for request in router.client.ends() { send(request, to: router) } }
  }

  /// Sees that the router is the one of the present network.
  private func look(_ now: Timestamp) {
    guard let gateway = DefaultRoute.gateway() else {
      guard router != nil || told.isEmpty else { return }
      router = nil
      for wanted in wanted { tell(.failed(wanted, .noNetwork)) }
      return
    }
    let source = NetworkInterfaces.source(towards: SocketAddress(ip: .v4(gateway), port: PortMappingRequest.port))
    guard case .v4(let own)? = source else { return }
    guard router?.gateway != gateway || router?.client.client != own else { return }
    router = open(gateway, own, now)
  }

  private func open(_ gateway: UInt32, _ own: UInt32, _ now: Timestamp) -> Router? {
    let number = clinux_udp_open(0)
    guard number >= 0 else { return nil }
    var random = SystemRandomNumberGenerator()
    let router = Router(gateway, owning: number, PortMappingClient(wanted, client: own, now: now, random: &random))
    // Connected: the kernel hands over what the router sends and nothing else.
    var address = clinux_address_from_v4(in_addr(s_addr: gateway.bigEndian), PortMappingRequest.port)
    guard unsafe clinux_tcp_connect(number, &address) == 0 else { return nil }
    do throws(SystemError) { try poller.add(number, token: 1) } catch { return nil }
    return router
  }

  private func receive(_ router: Router, _ room: inout [UInt8]) {
    for _ in 0..<16 {
      // The room is valid during the call, which writes at most its size.
      let count = unsafe room.withUnsafeMutableBytes {
        unsafe clinux_tcp_receive(router.socket, $0.baseAddress, $0.count)
      }
      guard count > 0 else { return }
      router.client.receive(room.span.extracting(0..<count), now: MonotonicClock.now()).forEach(tell)
    }
  }

  /// Sends a request. One that the kernel refuses is sent again later, as one that gets lost.
  private func send(_ request: [UInt8], to router: Router) {
    _ = unsafe request.withUnsafeBytes { unsafe clinux_tcp_send(router.socket, $0.baseAddress, $0.count) }
  }

  private func tell(_ event: PortMappingClient.Event) {
    guard !run.isStopped, told.insert(event).inserted else { return }
    let subject = event.wanted
    told = told.filter { $0.wanted != subject || $0 == event }
    onEvent(event)
  }
}

extension PortMappingClient.Event {
  /// The mapping that has changed.
  package var wanted: WantedMapping {
    switch self {
    case .mapped(let wanted, _), .failed(let wanted, _): wanted
    }
  }

  /// Where the port is reached from outside; nil if it is not.
  package var external: SocketAddress? { if case .mapped(_, let address) = self { address } else { nil } }

  /// A sentence for the user if viewers outside cannot use the mapping; nil if they can.
  /// - Parameter subject: what the port is for, such as `media port`.
  package func notice(of subject: String) -> String? {
    let port = "the \(subject) \(wanted.port) (\(wanted.transport == .udp ? "UDP" : "TCP"))"
    let otherwise = "Forward the port by hand and use --advertise, or use a TURN server."
    switch self {
    case .mapped(_, let address):
      guard address.ip.isPrivate else { return nil }
      return
        "The router forwards \(port), but its own address \(address.ip) is not one of the Internet: there is another "
        + "router before it. Viewers outside that one need a TURN server or a hub."
    case .failed(_, .silent):
      return
        "The router does not forward \(port): it answers neither PCP nor NAT-PMP. Switch one of them on there (often "
        + "beside UPnP), or forward the port by hand and use --advertise."
    case .failed(_, .refused): return "The router refuses to forward \(port). \(otherwise)"
    case .failed(_, .exhausted): return "The router has no room left to forward \(port). \(otherwise)"
    case .failed(_, .noNetwork): return "There is no router that could forward \(port), or it is not connected."
    case .failed(_, .nested):
      return "The router does not forward \(port), because another NAT is between it and this machine. \(otherwise)"
    case .failed(_, .other(let result)):
      return "The router does not forward \(port): it answers with the result \(result). \(otherwise)"
    }
  }
}
