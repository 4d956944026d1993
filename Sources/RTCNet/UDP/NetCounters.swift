/// The counters of a UDP port since it was opened.
package struct NetCounters: Hashable, Sendable, BitwiseCopyable {
  /// Datagrams the kernel took.
  package var sentDatagrams = 0
  /// Payload bytes the kernel took.
  package var sentBytes = 0
  /// System calls made for sending.
  package var sendCalls = 0
  /// How many of `sentDatagrams` the kernel cut out of a larger buffer (UDP GSO).
  package var segmentedDatagrams = 0
  /// Runs the kernel or the network card refused to cut, sent one by one instead.
  package var segmentationRefusals = 0
  /// Datagrams dropped because the socket's or the device's queue was full.
  package var droppedFull = 0
  /// Datagrams dropped because their destination or source was refused: no route, closed port, firewall, too long.
  package var droppedRefused = 0

  /// Datagrams delivered to the handler.
  package var receivedDatagrams = 0
  /// Payload bytes delivered to the handler.
  package var receivedBytes = 0
  /// System calls made for receiving.
  package var receiveCalls = 0
  /// Datagrams thrown away on arrival: empty, or longer than a receive slot.
  package var malformedDatagrams = 0
  /// Datagrams the kernel dropped because the receive queue was full.
  package var receiveQueueDrops = 0

  /// All counts zero.
  package init() {}

  /// Adds what another port has done.
  mutating func add(_ other: NetCounters) {
    sentDatagrams += other.sentDatagrams
    sentBytes += other.sentBytes
    sendCalls += other.sendCalls
    segmentedDatagrams += other.segmentedDatagrams
    segmentationRefusals += other.segmentationRefusals
    droppedFull += other.droppedFull
    droppedRefused += other.droppedRefused
    receivedDatagrams += other.receivedDatagrams
    receivedBytes += other.receivedBytes
    receiveCalls += other.receiveCalls
    malformedDatagrams += other.malformedDatagrams
    receiveQueueDrops += other.receiveQueueDrops
  }

  /// All datagrams that were asked to be sent and were not.
  package var dropped: Int { droppedFull + droppedRefused }
}
