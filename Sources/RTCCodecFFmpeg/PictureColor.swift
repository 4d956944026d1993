package import CFFmpeg
package import RTCMedia

/// The meaning of a picture's samples: the matrix and the range.
package struct PictureColor: Hashable {
  package let matrix: AVColorSpace
  package let isFullRange: Bool

  /// Creates the meaning from a file's values. `height` decides where the file gives no matrix: 720 rows and more are
  /// high definition.
  package init(matrix: AVColorSpace, range: AVColorRange, height: Int) {
    switch matrix {
    case AVCOL_SPC_UNSPECIFIED, AVCOL_SPC_RESERVED, AVCOL_SPC_RGB, AVCOL_SPC_YCGCO:
      self.matrix = height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M
    default: self.matrix = matrix
    }
    isFullRange = range == AVCOL_RANGE_JPEG
  }

  /// The colour space that a frame has when it is delivered.
  package var delivered: ColorSpace {
    switch matrix {
    case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC, AVCOL_SPC_SMPTE240M: .bt601Limited
    default: .bt709Limited
    }
  }

  /// Whether samples can be delivered as they are.
  package var isDeliverable: Bool {
    guard !isFullRange else { return false }
    return switch matrix {
    case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_BT709: true
    default: false
    }
  }
}
