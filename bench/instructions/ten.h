// The struct of which ten.C writes trees and fill.cpp reads them.
#pragma once

struct Ten {
    float a, b, c, d;
    int e, f;
    double g, h;
    short i;
    bool j;
};
