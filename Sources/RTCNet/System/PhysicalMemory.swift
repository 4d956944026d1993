import Glibc

/// The memory of this machine.
package enum PhysicalMemory {
  /// Its bytes; 1 GiB when the system does not say.
  package static var bytes: Int {
    let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
    let (bytes, overflow) = pages.multipliedReportingOverflow(by: size)
    return pages > 0 && size > 0 && !overflow ? bytes : 1 << 30
  }
}
