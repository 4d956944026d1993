/// The table of callbacks that a C library keeps, with the object it belongs to. The owner closes the library's side in its
/// `deinit`, before this table is released.
struct CListener<Owner: AnyObject, Callbacks>: ~Copyable {
  /// The table for the C library.
  let callbacks: UnsafeMutablePointer<Callbacks>

  init(_ callbacks: Callbacks) {
    self.callbacks = .allocate(capacity: 1)
    self.callbacks.initialize(to: callbacks)
  }

  deinit {
    callbacks.deinitialize(count: 1)
    callbacks.deallocate()
  }

  /// Sets the pointer that callbacks get, before the first callback. It is not retained.
  func setOwner(_ owner: Owner, at field: WritableKeyPath<Callbacks, UnsafeMutableRawPointer?>) {
    callbacks.pointee[keyPath: field] = Unmanaged.passUnretained(owner).toOpaque()
  }

  /// The owner, of the pointer that a callback got.
  static func owner(_ pointer: UnsafeMutableRawPointer?) -> Owner {
    Unmanaged<Owner>.fromOpaque(pointer!).takeUnretainedValue()
  }
}
