import Glibc

/// Complaints of libpulse itself, such as of a folder for its cookie that it cannot make below a missing `~/.config`.
package enum PulseLibraryLog {
  /// Has libpulse write to the system's log in place of standard error, unless the user has chosen a place. What fails is in
  /// the errors that this program reports itself. Sets a variable of the environment: call it before the first thread
  /// starts.
  package static func leaveStandardError() { setenv("PULSE_LOG_SYSLOG", "1", 0) }
}
