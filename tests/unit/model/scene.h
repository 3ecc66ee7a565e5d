/*
 * scene.h: pairs with their two kernels, for the tests of twin Gaussian processes.
 */
#ifndef OKRA_TEST_SCENE_H
#define OKRA_TEST_SCENE_H

#include "pairs.h"

typedef struct scene {
    pairs p;
    const char *kx, *ky;
    double lambda, lambda_y;
} scene;

static inline okra_model *fit_scene(const scene *s, const char *method, const char *more)
{
    char text[400];
    snprintf(text, sizeof text, "kx=%s ky=%s method=%s %s", s->kx, s->ky, method, more);
    return pairs_fit(s->p.train_x, s->p.train_y, text);
}

#endif
