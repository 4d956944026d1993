extension AsyncStream where Element: Sendable {
  /// The next element; nil when the stream has ended, or nothing came within `limit`, so that a test fails and does not
  /// hang. One caller at a time.
  package func next(within limit: Duration = .seconds(10)) async -> Element? {
    await withTaskGroup(of: Element?.self) { group in
      group.addTask {
        var iterator = makeAsyncIterator()
        return await iterator.next()
      }
      group.addTask {
        try? await Task.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }
}
