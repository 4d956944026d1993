import Glibc

/// How many processors there are to work with.
public enum ProcessorCount {
  /// The number of online processors; at least one.
  public static var available: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
