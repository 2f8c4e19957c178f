// SPDX-License-Identifier: Apache-2.0
//
// Bessel functions of the orders 0 and 1. See special_base.cuh.
//
// Modulus and phase for x > 5: sqrt(2 / (pi x)) (p cos(x - shift) - q sin(x - shift)), or with sine and cosine exchanged. SciPy 1.18
// takes sine and cosine of x itself from 10 on, where x - shift would be rounded, but of y1.
SPECIAL_INLINE double special_wave(double p, double q, double x, double shift, bool is_second)
{
    const double at = x - shift;
    const double wave = is_second ? p * sin(at) + q * cos(at) : p * cos(at) - q * sin(at);
    return wave * 7.97884560802865355880E-1 / sqrt(x);
}
SPECIAL_INLINE double special_wave_0(double p, double q, double x, bool is_second)
{
    const double of_cos = is_second ? q - p : p + q, of_sin = is_second ? p + q : p - q;
    return (of_cos * cos(x) + of_sin * sin(x)) * 5.64189583547756286948E-1 / sqrt(x);
}
SPECIAL_INLINE double special_wave_1(double p, double q, double x)
{
    return ((q - p) * cos(x) + (p + q) * sin(x)) * 5.64189583547756286948E-1 / sqrt(x);
}
SPECIAL double special_bessel_far_0(double x, bool is_second, bool is_of_sum)
{
    const double p_over[] = {7.96936729297347051624E-4, 8.28352392107440799803E-2, 1.23953371646414299388E0,
                             5.44725003058768775090E0, 8.74716500199817011941E0, 5.30324038235394892183E0,
                             9.99999999999999997821E-1};
    const double p_under[] = {9.24408810558863637013E-4, 8.56288474354474431428E-2, 1.25352743901058953537E0,
                              5.47097740330417105182E0, 8.76190883237069594232E0, 5.30605288235394617618E0,
                              1.00000000000000000218E0};
    const double q_over[] = {-1.13663838898469149931E-2, -1.28252718670509318512E0, -1.95539544257735972385E1,
                             -9.32060152123768231369E1, -1.77681167980488050595E2, -1.47077505154951170175E2,
                             -5.14105326766599330220E1, -6.05014350600728481186E0};
    const double q_under[] = {1.0, 6.43178256118178023184E1, 8.56430025976980587198E2, 3.88240183605401609683E3,
                              7.24046774195652478189E3, 5.93072701187316984827E3, 2.06209331660327847417E3,
                              2.42005740240291393179E2};
    const double w = 5.0 / x, z = 25.0 / (x * x);
    const double p = special_polynomial(z, p_over) / special_polynomial(z, p_under);
    const double q = special_polynomial(z, q_over) / special_polynomial(z, q_under);
    if (is_of_sum && !(x < 10.0))
        return special_wave_0(p, w * q, x, is_second);
    return special_wave(p, w * q, x, 0.78539816339744830962, is_second);
}
SPECIAL double special_bessel_far_1(double x, bool is_second, bool is_of_sum)
{
    const double p_over[] = {7.62125616208173112003E-4, 7.31397056940917570436E-2, 1.12719608129684925192E0,
                             5.11207951146807644818E0, 8.42404590141772420927E0, 5.21451598682361504063E0,
                             1.00000000000000000254E0};
    const double p_under[] = {5.71323128072548699714E-4, 6.88455908754495404082E-2, 1.10514232634061696926E0,
                              5.07386386128601488557E0, 8.39985554327604159757E0, 5.20982848682361821619E0,
                              9.99999999999999997461E-1};
    const double q_over[] = {5.10862594750176621635E-2, 4.98213872951233449420E0, 7.58238284132545283818E1,
                             3.66779609360150777800E2, 7.10856304998926107277E2, 5.97489612400613639965E2,
                             2.11688757100572135698E2, 2.52070205858023719784E1};
    const double q_under[] = {1.0, 7.42373277035675149943E1, 1.05644886038262816351E3, 4.98641058337653607651E3,
                              9.56231892404756170795E3, 7.99704160447350683650E3, 2.82619278517639096600E3,
                              3.36093607810698293419E2};
    const double w = 5.0 / x, z = w * w;
    const double p = special_polynomial(z, p_over) / special_polynomial(z, p_under);
    const double q = special_polynomial(z, q_over) / special_polynomial(z, q_under);
    if (is_of_sum && !(x < 10.0))
        return special_wave_1(p, w * q, x);
    return special_wave(p, w * q, x, 2.35619449019234492885, is_second);
}
SPECIAL double gsh_special_j0(double x, bool is_of_sum)
{
    const double over[] = {-4.79443220978201773821E9, 1.95617491946556577543E12, -2.49248344360967716204E14,
                           9.70862251047306323952E15};
    const double under[] = {1.0, 4.99563147152651017219E2, 1.73785401676374683123E5, 4.84409658339962045305E7,
                            1.11855537045356834862E10, 2.11277520115489217587E12, 3.10518229857422583814E14,
                            3.18121955943204943306E16, 1.71086294081043136091E18};
    const double size = fabs(x), z = size * size;
    if (!(size <= 5.0))
        return special_bessel_far_0(size, false, is_of_sum);
    if (size < 1.0e-5)
        return 1.0 - z / 4.0;
    const double roots = (z - 5.78318596294678452118E0) * (z - 3.04712623436620863991E1);
    return roots * special_polynomial(z, over) / special_polynomial(z, under);
}
SPECIAL double gsh_special_j1(double x, bool is_of_sum)
{
    const double over[] = {-8.99971225705559398224E8, 4.52228297998194034323E11, -7.27494245221818276015E13,
                           3.68295732863852883286E15};
    const double under[] = {1.0, 6.20836478118054335476E2, 2.56987256757748830383E5, 8.35146791431949253037E7,
                            2.21511595479792499675E10, 4.74914122079991414898E12, 7.84369607876235854894E14,
                            8.95222336184627338078E16, 5.32278620332680085395E18};
    const double size = fabs(x), z = size * size;
    if (size <= 5.0)
        return special_polynomial(z, over) / special_polynomial(z, under) * x * (z - 1.46819706421238932572E1) *
               (z - 4.92184563216946036703E1);
    const double far = special_bessel_far_1(size, false, is_of_sum);
    return x < 0.0 ? -far : far;
}
SPECIAL double gsh_special_y0(double x, bool is_of_sum)
{
    const double over[] = {1.55924367855235737965E4, -1.46639295903971606143E7, 5.43526477051876500413E9,
                           -9.82136065717911466409E11, 8.75906394395366999549E13, -3.46628303384729719441E15,
                           4.42733268572569800351E16, -1.84950800436986690637E16};
    const double under[] = {1.0, 1.04128353664259848412E3, 6.26107330137134956842E5, 2.68919633393814121987E8,
                            8.64002487103935000337E10, 2.02979612750105546709E13, 3.17157752842975028269E15,
                            2.50596256172653059228E17};
    if (!(x <= 5.0))
        return special_bessel_far_0(x, true, is_of_sum);
    if (x <= 0.0)
        return x == 0.0 ? -SPECIAL_INF : SPECIAL_NAN;
    const double z = x * x;
    return special_polynomial(z, over) / special_polynomial(z, under) +
           0.63661977236758134308 * log(x) * gsh_special_j0(x, is_of_sum);
}
SPECIAL double gsh_special_y1(double x)
{
    const double over[] = {1.26320474790178026440E9, -6.47355876379160291031E11, 1.14509511541823727583E14,
                           -8.12770255501325109621E15, 2.02439475713594898196E17, -7.78877196265950026825E17};
    const double under[] = {1.0, 5.94301592346128195359E2, 2.35564092943068577943E5, 7.34811944459721705660E7,
                            1.87601316108706159478E10, 3.88231277496238566008E12, 6.20557727146953693363E14,
                            6.87141087355300489866E16, 3.97270608116560655612E18};
    if (!(x <= 5.0))
        return special_bessel_far_1(x, true, false);
    if (x <= 0.0)
        return x == 0.0 ? -SPECIAL_INF : SPECIAL_NAN;
    const double z = x * x;
    return x * (special_polynomial(z, over) / special_polynomial(z, under)) +
           0.63661977236758134308 * (gsh_special_j1(x, false) * log(x) - 1.0 / x);
}
