#pragma once
#include <cstdint>
#include <vector>

/// Plain loops of what neural networks are made of. They share no code with the library; tensors are dense and row-major.
namespace reference {

/// How one direction of a window moves over an input, which counts as `border` outside.
struct window {
    int in = 1, out = 1, taps = 1, stride = 1, dilation = 1, before = 0;

    constexpr int at(int position, int tap) const { return position * stride + tap * dilation - before; }
    constexpr bool holds(int position, int tap) const { return at(position, tap) >= 0 && at(position, tap) < in; }
};

/// A convolution whose channels fall into groups: filter f sees the channels of its own group. Depthwise: as many groups as channels.
struct padded_conv2d_shape {
    int batch = 1, channels = 1, filters = 1, groups = 1;
    window y, x;

    constexpr int channels_in_group() const { return channels / groups; }
};

/// out[b][y][x][f] = sum over r, s, c of in[b][…][…][c of the group] * weights[r][s][c][f];
/// in[batch][y.in][x.in][channels], weights[y.taps][x.taps][channels / groups][filters], out[batch][y.out][x.out][filters]
template <class Element, class Sum>
void padded_conv2d(padded_conv2d_shape const& of, Element const* in, Element const* weights, Sum* out, Element border = 0) {
    for (int b = 0; b < of.batch; ++b)
        for (int y = 0; y < of.y.out; ++y)
            for (int x = 0; x < of.x.out; ++x)
                for (int f = 0; f < of.filters; ++f) {
                    int const first = f / (of.filters / of.groups) * of.channels_in_group();
                    Sum sum = 0;
                    for (int r = 0; r < of.y.taps; ++r)
                        for (int s = 0; s < of.x.taps; ++s)
                            for (int c = 0; c < of.channels_in_group(); ++c) {
                                Element value = border;
                                if (of.y.holds(y, r) && of.x.holds(x, s))
                                    value = in[((b * of.y.in + of.y.at(y, r)) * of.x.in + of.x.at(x, s)) * of.channels + first + c];
                                sum += static_cast<Sum>(value) *
                                       static_cast<Sum>(weights[((r * of.x.taps + s) * of.channels_in_group() + c) * of.filters + f]);
                            }
                    out[((b * of.y.out + y) * of.x.out + x) * of.filters + f] = sum;
                }
}

}  // namespace reference
